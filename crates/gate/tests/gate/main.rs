//! The gate against the programs whose behaviour it predicts.

#[cfg(test)]
mod patch_oracle;
#[cfg(test)]
mod sql_oracle;
