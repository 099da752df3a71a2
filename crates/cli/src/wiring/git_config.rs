//! A small, tolerant reader of git's configuration syntax: what it cannot read it skips.

/// One setting, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Lower-case (`remote`).
    pub section: String,
    /// As written (`origin`).
    pub subsection: Option<String>,
    /// Lower-case (`push`).
    pub name: String,
    /// Unquoted.
    pub value: String,
}

impl Setting {
    /// The whole key as git says it (`remote.origin.push`).
    #[must_use]
    pub fn key(&self) -> String {
        match &self.subsection {
            Some(subsection) => format!("{}.{subsection}.{}", self.section, self.name),
            None => format!("{}.{}", self.section, self.name),
        }
    }

    /// A setting from its whole key, as in `GIT_CONFIG_KEY_0`.
    #[must_use]
    pub fn from_key(key: &str, value: String) -> Option<Self> {
        let (section, rest) = key.split_once('.')?;
        let (subsection, name) = match rest.rsplit_once('.') {
            Some((subsection, name)) => (Some(subsection.to_owned()), name),
            None => (None, rest),
        };
        let (section, name) = (section.to_lowercase(), name.to_lowercase());
        Some(Self { section, subsection, name, value })
    }
}

/// Every setting of a configuration file's text.
#[must_use]
pub fn parse(text: &str) -> Vec<Setting> {
    let mut reader = Reader { rest: text.strip_prefix('\u{feff}').unwrap_or(text).chars() };
    let mut section = None;
    let mut settings = Vec::new();
    while let Some(c) = reader.peek() {
        match c {
            c if c.is_whitespace() => reader.skip(),
            '#' | ';' => reader.skip_line(),
            '[' => {
                reader.skip();
                section = reader.header();
                if section.is_none() {
                    reader.skip_line();
                }
            }
            c if c.is_ascii_alphanumeric() => {
                let setting = reader.setting();
                if let (Some((section, subsection)), Some((name, value))) = (&section, setting) {
                    settings.push(Setting {
                        section: section.clone(),
                        subsection: subsection.clone(),
                        name,
                        value,
                    });
                }
            }
            _ => reader.skip_line(),
        }
    }
    settings
}

struct Reader<'t> {
    rest: std::str::Chars<'t>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn skip(&mut self) {
        self.rest.next();
    }

    fn skip_line(&mut self) {
        self.rest.by_ref().find(|c| *c == '\n');
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let mut out = String::new();
        while let Some(c) = self.peek().filter(|c| accept(*c)) {
            out.push(c);
            self.skip();
        }
        out
    }

    /// What stands between the brackets, after the opening one.
    fn header(&mut self) -> Option<(String, Option<String>)> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.');
        self.take_while(|c| c == ' ' || c == '\t');
        let mut subsection = None;
        if self.peek() == Some('"') {
            self.skip();
            let mut text = String::new();
            loop {
                match self.rest.next()? {
                    '"' => break,
                    '\n' => return None,
                    '\\' => text.push(self.rest.next()?),
                    c => text.push(c),
                }
            }
            subsection = Some(text);
        }
        if self.peek()? != ']' {
            return None;
        }
        self.skip();
        let name = name.to_lowercase();
        match (subsection, name.split_once('.')) {
            // `[remote.origin]` is an old way of writing `[remote "origin"]`.
            (None, Some((section, old))) => Some((section.to_owned(), Some(old.to_owned()))),
            (subsection, _) => Some((name, subsection)),
        }
    }

    fn setting(&mut self) -> Option<(String, String)> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '-').to_lowercase();
        self.take_while(|c| c == ' ' || c == '\t' || c == '\r');
        match self.peek() {
            Some('=') => {
                self.skip();
                Some((name, self.value()?))
            }
            // A name alone is a switch that is on.
            None | Some('\n' | '#' | ';') => {
                self.skip_line();
                Some((name, "true".to_owned()))
            }
            Some(_) => {
                self.skip_line();
                None
            }
        }
    }

    fn value(&mut self) -> Option<String> {
        let mut out = String::new();
        // Spaces count only when something follows them.
        let mut spaces = String::new();
        let mut quoted = false;
        loop {
            let c = match self.rest.next() {
                None | Some('\n') => return (!quoted).then_some(out),
                Some('\r') if self.peek() == Some('\n') => continue,
                Some(c) => c,
            };
            match c {
                '#' | ';' if !quoted => {
                    self.skip_line();
                    return Some(out);
                }
                ' ' | '\t' if !quoted => {
                    if !out.is_empty() {
                        spaces.push(c);
                    }
                    continue;
                }
                _ => out.push_str(&std::mem::take(&mut spaces)),
            }
            match c {
                '"' => quoted = !quoted,
                '\\' => match self.rest.next()? {
                    '\n' => {}
                    '\r' => self.skip(),
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'b' => {
                        out.pop();
                    }
                    other => out.push(other),
                },
                c => out.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let got: Vec<(String, String)> =
            parse(text).into_iter().map(|setting| (setting.key(), setting.value)).collect();
        let got: Vec<(&str, &str)> =
            got.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(got, expected, "{text:?}");
    }

    #[test]
    fn sections_subsections_and_names_are_read_as_git_reads_them() {
        check("[push]\n\tdefault = current\n", &[("push.default", "current")]);
        check("[PUSH] Default=matching", &[("push.default", "matching")]);
        check("[remote \"My.Origin\"]\n push = +main", &[("remote.My.Origin.push", "+main")]);
        check("[remote.Origin]\nmirror", &[("remote.origin.mirror", "true")]);
        check("[branch \"a\\\"b\"]\nmerge=x", &[("branch.a\"b.merge", "x")]);
        check("[alias]\nx = a\nx = b\n", &[("alias.x", "a"), ("alias.x", "b")]);
    }

    #[test]
    fn values_with_quotes_comments_and_continuations_are_read_as_git_reads_them() {
        check("[alias]\npf = push --force ; no", &[("alias.pf", "push --force")]);
        check(
            "[alias]\nx = \"!f() { git push; }; f\" # c",
            &[("alias.x", "!f() { git push; }; f")],
        );
        check(
            "[alias]\nx = push \\\n  --force\ny = z",
            &[("alias.x", "push   --force"), ("alias.y", "z")],
        );
        check("[a]\nx = \"a  b\"c  d \t\n", &[("a.x", "a  bc  d")]);
        check("[a]\nx = \\\"q\\\" \\\\ \\t.\n", &[("a.x", "\"q\" \\ \t.")]);
        check("[a]\r\nx = b\r\ny\r\n", &[("a.x", "b"), ("a.y", "true")]);
        check("[a]\nx =\n", &[("a.x", "")]);
    }

    #[test]
    fn what_is_broken_is_skipped_and_the_rest_is_read() {
        check("[a\nx = 1\n[b]\ny = 2\n", &[("b.y", "2")]);
        check("[a]\n= 3\nx y\nz = 1\n", &[("a.z", "1")]);
        check("[a]\nx = \"open\n[b]\ny = 2\n", &[("b.y", "2")]);
        check("x = 1\n", &[]);
        check("\u{feff}[a]\nx = 1", &[("a.x", "1")]);
        check("[a \"\\", &[]);
        check("\0\u{1}[a]\nx=1", &[]);
    }
}
