//! What only the file can show: damage, a full disk, other versions, other processes.
