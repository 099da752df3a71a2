//! What PowerShell's own commands and .NET's static methods do.

use aurora_model::Touch;

use super::super::cmdlet::{Cmdlet, Word, cmdlet_name};
use super::super::value::split_shell;
use super::super::{What, analyse_nested};
use super::{BLOCK, HARMLESS, PowerShell};
use crate::analysis::shell::machine::ScriptLang;

impl PowerShell<'_> {
    pub(super) fn cmdlet(
        &mut self,
        base: &str,
        name: &Word,
        call: &Cmdlet,
        piped: bool,
        start: usize,
    ) {
        let change = |path: Option<String>, touch| What::Change { path, touch };
        match base {
            "remove-item" | "ri" | "rm" | "rmdir" | "rd" | "del" | "erase" => {
                self.remove_item(call, piped, start);
            }
            "clear-content" | "clc" => self.emit(change(call.target(), Touch::Truncate), start),
            "set-content" | "sc" | "out-file" | "export-csv" | "export-clixml" | "tee-object"
            | "tee" => {
                self.emit(change(call.target(), Touch::Write), start);
            }
            "add-content" | "ac" => self.emit(change(call.target(), Touch::Append), start),
            "new-item" | "ni" | "mkdir" | "md" => {
                self.emit(change(call.target(), Touch::Create), start)
            }
            "set-acl" => self.emit(change(call.target(), Touch::Mode), start),
            "move-item" | "mi" | "mv" | "move" | "rename-item" | "rni" | "ren" => {
                self.emit(change(call.target(), Touch::Rename), start);
                let destination = call.second(&["destination", "newname"]);
                self.emit(change(destination, Touch::Rename), start);
            }
            "copy-item" | "cp" | "copy" | "cpi" => {
                self.emit(change(call.second(&["destination"]), Touch::Write), start);
            }
            "invoke-expression" | "iex" => self.expression(call, piped, start),
            "start-process" | "saps" | "start" => {
                let mut argv = vec![call.value("filepath").or_else(|| call.first())];
                argv.extend(call.arguments().into_iter().map(Some));
                self.emit(What::Run { command: None, argv: Some(argv), input: None }, start);
            }
            "invoke-webrequest" | "iwr" | "invoke-restmethod" | "irm" | "start-bitstransfer" => {
                self.emit(
                    What::Fetch { target: call.value("uri").or_else(|| call.first()) },
                    start,
                );
                if let Some(path) = call.value("outfile") {
                    self.emit(change(Some(path), Touch::Write), start);
                }
            }
            "format-volume" | "clear-disk" | "initialize-disk" | "remove-partition" => {
                self.emit(What::Wipe { device: call.describe() }, start);
            }
            "invoke-sqlcmd" => {
                if let Some(text) = call.value("query").or_else(|| call.first()) {
                    self.emit(What::Sql { text: Some(text) }, start);
                }
            }
            "set-alias" | "new-alias" | "sal" | "nal" => self.alias(call),
            BLOCK => {}
            _ if base.contains("]::") && self.dotnet(base, call, start) => {}
            _ if base.ends_with("]::delete") => {
                let paths = call.targets().iter().map(Word::known).collect();
                let recursive = base.contains("directory");
                self.emit(What::Delete { paths, recursive, many: false }, start);
            }
            _ if base.starts_with('$') || base.starts_with('[') || base.starts_with('-') => {}
            _ if base.contains('-') && cmdlet_name(base) => {}
            _ if HARMLESS.binary_search(&base).is_ok()
                || matches!(base, "foreach" | "foreach-object" | "%" | "for" | "while") => {}
            _ => {
                // A program of Windows is known by its name, wherever it lies.
                let windows = name.text.contains('\\');
                let mut argv = vec![if windows { Some(base.to_owned()) } else { name.known() }];
                argv.extend(call.words.iter().map(Word::known));
                self.emit(What::Run { command: None, argv: Some(argv), input: None }, start);
            }
        }
    }

    fn remove_item(&mut self, call: &Cmdlet, piped: bool, start: usize) {
        let targets = call.targets();
        let wild = targets.iter().any(|path| path.many || path.text.contains(['*', '?', '[']));
        let paths = targets.iter().map(Word::known).collect();
        let recursive = call.switch("recurse") || call.switch("rf");
        self.emit(What::Delete { paths, recursive, many: wild || piped }, start);
    }

    fn alias(&mut self, call: &Cmdlet) {
        let name = call.value("name").or_else(|| call.first());
        let at = usize::from(call.value("name").is_none());
        let real = call.value("value").or_else(|| call.rest.get(at).and_then(Word::known));
        if let (Some(name), Some(real)) = (name, real) {
            self.aliases.insert(name.to_ascii_lowercase(), real);
        }
    }

    /// Static methods of .NET's classes; says whether it is one of those known.
    fn dotnet(&mut self, base: &str, call: &Cmdlet, start: usize) -> bool {
        let touch = match base.rsplit("]::").next().unwrap_or("") {
            "start" if base.ends_with("process]::start") => {
                let mut argv = vec![call.first()];
                let rest = call.rest.iter().skip(1);
                argv.extend(rest.flat_map(|word| split_shell(&word.text)).map(Some));
                self.emit(What::Run { command: None, argv: Some(argv), input: None }, start);
                return true;
            }
            "create" if base.contains("scriptblock") => {
                self.expression(call, false, start);
                return true;
            }
            "writealltext" | "writealllines" | "writeallbytes" | "create" | "openwrite"
                if base.contains("file") =>
            {
                Touch::Write
            }
            "appendalltext" | "appendalllines" => Touch::Append,
            _ => return false,
        };
        self.emit(What::Change { path: call.first(), touch }, start);
        true
    }

    fn expression(&mut self, call: &Cmdlet, piped: bool, start: usize) {
        let code = call.value("command").or_else(|| call.first());
        match code {
            Some(code) if !piped => {
                for finding in
                    analyse_nested(ScriptLang::PowerShell, &code, &self.nesting.deeper(&code))
                {
                    self.emit(finding.what, start);
                }
            }
            _ => self.emit(What::Opaque { why: "it evaluates code that is not known" }, start),
        }
    }
}
