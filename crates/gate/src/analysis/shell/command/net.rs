//! Programs that speak with the network: what they print comes from outside, what they save is written.

use aurora_model::{EffectKind, Touch};

use super::Model;
use super::options::{Parsed, Spec};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Lang, Machine, Stream};

/// The programs of this file, by name.
pub static MODELS: &[(&str, Model)] = &[
    ("aria2c", aria2),
    ("curl", curl),
    ("curlie", curl),
    ("fetch", wget),
    ("http", httpie),
    ("https", httpie),
    ("lynx", prints),
    ("nc", netcat),
    ("ncat", netcat),
    ("netcat", netcat),
    ("socat", socat),
    ("telnet", prints),
    ("w3m", prints),
    ("wget", wget),
    ("wget2", wget),
    ("xh", httpie),
    ("xhs", httpie),
];

fn reach(machine: &mut Machine<'_>, call: &Call<'_>, operands: &[&Field]) -> Stream {
    let target = operands.first().map_or_else(|| call.name.to_owned(), |url| url.display());
    machine.emit(EffectKind::Network { target: target.clone() }, call.span);
    Stream::Network(target)
}

fn prints(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let operands = Spec::FLAGS.parse(call.args).operands;
    reach(machine, call, &operands)
}

const CURL: Spec = Spec {
    short_values: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
    long_values: &[
        "user-agent",
        "cookie",
        "cookie-jar",
        "continue-at",
        "data",
        "data-ascii",
        "data-binary",
        "data-raw",
        "data-urlencode",
        "dump-header",
        "referer",
        "cert",
        "key",
        "cacert",
        "capath",
        "form",
        "form-string",
        "header",
        "config",
        "max-time",
        "output",
        "output-dir",
        "ftp-port",
        "quote",
        "range",
        "telnet-option",
        "upload-file",
        "user",
        "proxy-user",
        "write-out",
        "proxy",
        "request",
        "speed-limit",
        "speed-time",
        "time-cond",
        "url",
        "retry",
        "retry-delay",
        "retry-max-time",
        "connect-timeout",
        "resolve",
        "interface",
        "limit-rate",
        "max-filesize",
        "max-redirs",
        "json",
        "oauth2-bearer",
        "trace",
        "trace-ascii",
        "stderr",
        "unix-socket",
        "variable",
        "aws-sigv4",
        "ciphers",
        "dns-servers",
        "etag-save",
        "etag-compare",
        "proto",
        "rate",
        "socks5",
        "socks5-hostname",
        "tls-max",
    ],
    long_flags: &[
        "remote-name",
        "remote-name-all",
        "silent",
        "location",
        "fail",
        "insecure",
        "help",
    ],
    ..Spec::FLAGS
};

/// Where a download goes: the named file below the folder that is named.
fn saved(machine: &mut Machine<'_>, file: &Field, folder: Option<&Field>) {
    if file.is("-") {
        return;
    }
    match folder {
        Some(folder) if !file.prefix().starts_with('/') => {
            let mut path = folder.clone();
            path.push_lit("/");
            path.push_field(file);
            machine.overwrite(&path, Touch::Write, file.span);
        }
        _ => machine.overwrite(file, Touch::Write, file.span),
    }
}

fn curl(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = CURL.parse(call.args);
    let folder = parsed.value('\0', "output-dir");
    let outputs = parsed.values('o', "output");
    for file in &outputs {
        saved(machine, file, folder);
    }
    for (short, long) in [
        ('c', "cookie-jar"),
        ('D', "dump-header"),
        ('\0', "trace"),
        ('\0', "trace-ascii"),
        ('\0', "etag-save"),
    ] {
        for file in parsed.values(short, long) {
            saved(machine, file, None);
        }
    }
    let remote_name = parsed.has('O', "remote-name") || parsed.has('\0', "remote-name-all");
    let mut urls: Vec<&Field> = parsed.operands.clone();
    urls.extend(parsed.values('\0', "url"));
    if remote_name {
        save_remote_names(machine, &urls, folder);
    }
    let printed = reach(machine, call, &urls);
    let to_stdout =
        !remote_name && outputs.iter().all(|file| file.is("-") || file.is("/dev/stdout"));
    for file in &outputs {
        machine.remember_file(file, printed.clone(), false);
    }
    if to_stdout { printed } else { Stream::Terminal }
}

/// Files named as the last part of their addresses.
fn save_remote_names(machine: &mut Machine<'_>, urls: &[&Field], folder: Option<&Field>) {
    for url in urls {
        let path = url.display();
        let path = path.split(['?', '#']).next().unwrap_or("");
        let Some((_, name)) = path.rsplit_once('/').filter(|(_, name)| !name.is_empty()) else {
            continue;
        };
        let file = Field::lit(name, url.span);
        saved(machine, &file, folder);
        machine.remember_file(&file, Stream::Network(url.display()), false);
    }
    if let (Some(folder), true) = (folder, urls.is_empty()) {
        machine.change(folder, Touch::Create, false);
    }
}

const WGET: Spec = Spec {
    short_values: "aBDeGHiIloOPQRtTUwAX",
    long_values: &[
        "output-document",
        "directory-prefix",
        "output-file",
        "append-output",
        "header",
        "user",
        "password",
        "post-data",
        "post-file",
        "method",
        "body-data",
        "body-file",
        "tries",
        "timeout",
        "wait",
        "user-agent",
        "referer",
        "load-cookies",
        "save-cookies",
        "input-file",
        "base",
        "execute",
        "level",
        "accept",
        "reject",
        "domains",
        "quota",
        "limit-rate",
        "ca-certificate",
        "certificate",
        "private-key",
        "cut-dirs",
    ],
    long_flags: &["quiet", "recursive", "spider", "no-check-certificate", "continue", "help"],
    ..Spec::FLAGS
};

fn wget(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = WGET.parse(call.args);
    for (short, long) in [('o', "output-file"), ('a', "append-output"), ('\0', "save-cookies")] {
        for file in parsed.values(short, long) {
            saved(machine, file, None);
        }
    }
    let folder = parsed.value('P', "directory-prefix");
    let printed = reach(machine, call, &parsed.operands);
    match parsed.value('O', "output-document") {
        Some(file) if file.is("-") || file.is("/dev/stdout") => printed,
        Some(file) => {
            saved(machine, file, None);
            machine.remember_file(file, printed, false);
            Stream::Terminal
        }
        None => {
            if !parsed.has('\0', "spider") {
                save_remote_names(machine, &parsed.operands, folder);
            }
            Stream::Terminal
        }
    }
}

const ARIA: Spec = Spec {
    short_values: "odxsjki",
    long_values: &["out", "dir", "split", "header", "input-file", "max-connection-per-server"],
    ..Spec::FLAGS
};

fn aria2(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = ARIA.parse(call.args);
    let folder = parsed.value('d', "dir");
    match parsed.value('o', "out") {
        Some(file) => saved(machine, file, folder),
        None => save_remote_names(machine, &parsed.operands, folder),
    }
    reach(machine, call, &parsed.operands);
    Stream::Terminal
}

const HTTPIE: Spec = Spec {
    short_values: "oapAs",
    long_values: &[
        "output",
        "auth",
        "print",
        "auth-type",
        "timeout",
        "session",
        "proxy",
        "verify",
        "style",
        "cert",
    ],
    ..Spec::FLAGS
};

fn httpie(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = HTTPIE.parse(call.args);
    if let Some(file) = parsed.value('o', "output") {
        saved(machine, file, None);
        reach(machine, call, &parsed.operands);
        return Stream::Terminal;
    }
    reach(machine, call, &parsed.operands)
}

const NETCAT: Spec = Spec {
    short_values: "epcswixXgGIOPqTV",
    long_values: &[
        "exec",
        "sh-exec",
        "source",
        "wait",
        "idle-timeout",
        "proxy",
        "ssl-key",
        "ssl-cert",
        "output",
    ],
    ..Spec::FLAGS
};

/// `nc -e` and `ncat --sh-exec` hand a program to whoever connects.
fn netcat(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed: Parsed<'_> = NETCAT.parse(call.args);
    for (short, long) in [('e', "exec"), ('c', "sh-exec")] {
        for code in parsed.values(short, long) {
            machine.run_code(Lang::Shell, code);
            machine.opaque(code.display(), "whoever connects decides what it does", call.span);
        }
    }
    reach(machine, call, &parsed.operands)
}

fn socat(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    for arg in call.args {
        let text = arg.prefix();
        let kind = text.split(':').next().unwrap_or("").to_ascii_uppercase();
        if matches!(kind.as_str(), "EXEC" | "SYSTEM" | "SHELL")
            && let Some((_, code)) = arg.split_once(':')
        {
            machine.run_code(Lang::Shell, &code);
            machine.opaque(code.display(), "whoever connects decides what it does", call.span);
        }
    }
    Stream::Network("socat".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_in_order() {
        assert!(MODELS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
