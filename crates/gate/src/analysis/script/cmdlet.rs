//! A PowerShell command's words: parameters, switches and the rest.

use super::UNKNOWN;

/// Parameters that take a value, as PowerShell writes them, in lower case.
const VALUE_PARAMETERS: &[&str] = &[
    "argumentlist",
    "command",
    "database",
    "destination",
    "ea",
    "encoding",
    "erroraction",
    "exclude",
    "filepath",
    "filter",
    "include",
    "inputfile",
    "inputobject",
    "itemtype",
    "literalpath",
    "name",
    "newname",
    "outfile",
    "path",
    "query",
    "serverinstance",
    "target",
    "uri",
    "value",
];

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) quoted: bool,
    /// It came from a bracket or holds something unknown that may be several values.
    pub(super) many: bool,
}

impl Word {
    pub(super) fn known(&self) -> Option<String> {
        let known = self.text.chars().any(|c| c != UNKNOWN);
        (known && !self.many).then(|| self.text.clone())
    }
}

/// Whether a name is a verb and a noun, as all of PowerShell's own commands are.
pub(super) fn cmdlet_name(name: &str) -> bool {
    const VERBS: &[&str] = &[
        "add",
        "clear",
        "close",
        "compare",
        "convert",
        "convertfrom",
        "convertto",
        "copy",
        "disable",
        "enable",
        "enter",
        "exit",
        "expand",
        "export",
        "find",
        "foreach",
        "format",
        "get",
        "group",
        "import",
        "install",
        "invoke",
        "join",
        "limit",
        "measure",
        "mount",
        "move",
        "new",
        "open",
        "optimize",
        "out",
        "pop",
        "publish",
        "push",
        "read",
        "receive",
        "register",
        "remove",
        "rename",
        "resolve",
        "restart",
        "resume",
        "save",
        "search",
        "select",
        "send",
        "set",
        "show",
        "sort",
        "split",
        "start",
        "stop",
        "suspend",
        "tee",
        "test",
        "trace",
        "uninstall",
        "unregister",
        "update",
        "use",
        "wait",
        "where",
        "write",
    ];
    name.split_once('-').is_some_and(|(verb, _)| VERBS.binary_search(&verb).is_ok())
}

/// A command's arguments, sorted into switches, named values and the rest.
#[derive(Debug)]
pub(super) struct Cmdlet {
    pub(super) words: Vec<Word>,
    pub(super) named: Vec<(String, Vec<Word>)>,
    pub(super) rest: Vec<Word>,
}

impl Cmdlet {
    pub(super) fn new(args: &[Word]) -> Self {
        let mut named: Vec<(String, Vec<Word>)> = Vec::new();
        let mut rest = Vec::new();
        let mut value_of: Option<String> = None;
        for word in args {
            let parameter = (!word.quoted).then(|| word.text.strip_prefix('-')).flatten();
            if let Some(parameter) =
                parameter.filter(|name| name.starts_with(|c: char| c.is_alphabetic()))
            {
                let (name, value) = parameter.split_once(':').unwrap_or((parameter, ""));
                let name = name.to_ascii_lowercase();
                let takes = VALUE_PARAMETERS.binary_search(&name.as_str()).is_ok();
                let values = if value.is_empty() {
                    Vec::new()
                } else {
                    vec![Word { text: value.to_owned(), quoted: false, many: false }]
                };
                value_of = (takes && value.is_empty()).then(|| name.clone());
                named.push((name, values));
                continue;
            }
            match value_of.take() {
                Some(name) => {
                    if let Some((_, values)) = named.last_mut() {
                        values.push(word.clone());
                    }
                    // Further words of a list belong to it too, where the list is all constants.
                    if matches!(name.as_str(), "path" | "literalpath" | "argumentlist")
                        && word.quoted
                    {
                        value_of = Some(name);
                    }
                }
                None => rest.push(word.clone()),
            }
        }
        Self { words: args.to_vec(), named, rest }
    }

    /// Whether a switch is given, possibly abbreviated.
    pub(super) fn switch(&self, name: &str) -> bool {
        self.named.iter().any(|(own, values)| {
            let least = if name == "whatif" { 2 } else { 1 };
            let off = values.first().is_some_and(|value| value.text.eq_ignore_ascii_case("$false"));
            own.len() >= least && name.starts_with(own.as_str()) && !off
        })
    }

    pub(super) fn values(&self, name: &str) -> &[Word] {
        let found = self.named.iter().find(|(own, _)| own == name);
        found.map_or(&[], |(_, values)| values.as_slice())
    }

    pub(super) fn value(&self, name: &str) -> Option<String> {
        self.values(name).first().and_then(Word::known)
    }

    pub(super) fn first(&self) -> Option<String> {
        self.rest.first().and_then(Word::known)
    }

    pub(super) fn targets(&self) -> Vec<Word> {
        let mut out = self.values("path").to_vec();
        out.extend_from_slice(self.values("literalpath"));
        out.extend(self.rest.iter().cloned());
        out
    }

    pub(super) fn target(&self) -> Option<String> {
        let named = self.value("path").or_else(|| self.value("filepath"));
        named.or_else(|| self.value("literalpath")).or_else(|| self.first())
    }

    pub(super) fn second(&self, names: &[&str]) -> Option<String> {
        let named = names.iter().find_map(|name| self.value(name));
        let at = usize::from(self.value("path").is_none() && self.value("literalpath").is_none());
        named.or_else(|| self.rest.get(at).and_then(Word::known))
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        let named = self.values("argumentlist").iter();
        let rest = self.rest.iter().skip(usize::from(self.value("filepath").is_none()));
        named.chain(rest).flat_map(|word| word.text.split_whitespace()).map(str::to_owned).collect()
    }

    pub(super) fn describe(&self) -> String {
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_sorted() {
        assert!(VALUE_PARAMETERS.is_sorted());
    }
}
