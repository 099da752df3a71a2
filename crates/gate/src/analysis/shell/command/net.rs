//! Programs that fetch from the network: what they print is not known, what they write is.

use aurora_model::{EffectKind, Touch};

use super::Model;
use super::options::{Parsed, Spec};
use super::place::{below, last_component, only_informs};
use crate::analysis::shell::field::Field;
use crate::analysis::shell::machine::{Call, Machine, Stream};

/// The models of this file, by program, sorted.
pub static MODELS: &[(&str, Model)] = &[
    ("aria2c", aria),
    ("axel", aria),
    ("curl", curl),
    ("curlie", curl),
    ("fetch", wget),
    ("http", httpie),
    ("https", httpie),
    ("links", prints),
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
    ("youtube-dl", aria),
    ("yt-dlp", aria),
];

const CURL: Spec = Spec {
    short_values: "AbcCdDeEFHKmoPQrtTuUwxXyYz",
    short_optional: "h",
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
        "json",
        "dump-header",
        "referer",
        "cert",
        "cert-type",
        "key",
        "key-type",
        "cacert",
        "capath",
        "form",
        "form-string",
        "header",
        "proxy-header",
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
        "connect-timeout",
        "connect-to",
        "resolve",
        "retry",
        "retry-delay",
        "retry-max-time",
        "limit-rate",
        "max-filesize",
        "max-redirs",
        "interface",
        "local-port",
        "url",
        "url-query",
        "unix-socket",
        "oauth2-bearer",
        "pass",
        "pinnedpubkey",
        "ciphers",
        "tls-max",
        "trace",
        "trace-ascii",
        "stderr",
        "socks5",
        "socks5-hostname",
        "noproxy",
        "netrc-file",
        "aws-sigv4",
        "create-file-mode",
        "dns-servers",
        "doh-url",
        "etag-save",
        "etag-compare",
        "hostpubmd5",
        "keepalive-time",
        "libcurl",
        "mail-from",
        "mail-rcpt",
        "parallel-max",
        "proto",
        "proto-default",
        "proto-redir",
        "rate",
        "request-target",
        "service-name",
        "variable",
        "expand-url",
        "expand-output",
        "abstract-unix-socket",
        "alt-svc",
        "hsts",
        "engine",
        "preproxy",
        "krb",
        "login-options",
        "crlfile",
        "curves",
        "delegation",
        "egd-file",
        "random-file",
    ],
    long_flags: &[
        "silent",
        "show-error",
        "location",
        "fail",
        "fail-with-body",
        "insecure",
        "head",
        "include",
        "remote-name",
        "remote-name-all",
        "remote-header-name",
        "compressed",
        "get",
        "verbose",
        "globoff",
        "create-dirs",
        "progress-bar",
        "version",
        "http1.1",
        "http2",
        "http2-prior-knowledge",
        "http3",
        "ipv4",
        "ipv6",
        "no-progress-meter",
        "location-trusted",
        "anyauth",
        "basic",
        "digest",
        "tlsv1.2",
        "tlsv1.3",
        "ssl",
        "ssl-reqd",
        "parallel",
        "netrc",
        "raw",
        "remote-time",
    ],
    long_optional: &["help"],
    ..Spec::FLAGS
};

fn curl(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = CURL.parse(call.args);
    if only_informs(&parsed) || parsed.has('h', "") || parsed.has('V', "") {
        return Stream::Terminal;
    }
    let folder = parsed.value('\0', "output-dir");
    let mut outputs: Vec<Field> = Vec::new();
    for path in parsed.values('o', "output") {
        outputs.push(path.clone());
    }
    let named = parsed.has('O', "remote-name") || parsed.has('\0', "remote-name-all");
    let mut urls: Vec<&Field> = parsed.operands.clone();
    urls.extend(parsed.values('\0', "url"));
    if named {
        outputs.extend(urls.iter().filter_map(|url| remote_name(url)));
    }
    let to_stdout = outputs.iter().any(|path| path.is("-"));
    let printed =
        to_stdout || (outputs.is_empty() && !named) || outputs.len() < urls.len() && !named;
    for path in outputs.iter().filter(|path| !path.is("-")) {
        let target = folder.map_or_else(|| path.clone(), |folder| below(folder, path));
        machine.change(&target, Touch::Write, false);
        machine.remember_file(&target, Stream::Network(call.name.to_owned()), false);
    }
    for (short, long) in [
        ('D', "dump-header"),
        ('c', "cookie-jar"),
        ('\0', "trace"),
        ('\0', "trace-ascii"),
        ('\0', "etag-save"),
        ('\0', "stderr"),
    ] {
        for path in parsed.values(short, long).into_iter().filter(|path| !path.is("-")) {
            machine.change(path, Touch::Write, false);
        }
    }
    fetched(machine, &urls, printed, call)
}

/// Notes what is fetched; what is printed comes from the network.
fn fetched(machine: &mut Machine<'_>, urls: &[&Field], printed: bool, call: &Call<'_>) -> Stream {
    for url in urls {
        machine.emit(EffectKind::Network { target: url.display() }, call.span);
    }
    let target = urls.first().map_or_else(|| call.name.to_owned(), |url| url.display());
    if printed { Stream::Network(target) } else { Stream::Terminal }
}

/// The name that a download gets from its address.
fn remote_name(url: &Field) -> Option<Field> {
    let name = last_component(url)?;
    let text = name.text()?;
    let text = text.split(['?', '#']).next().unwrap_or(text);
    (!text.is_empty()).then(|| Field::lit(text, url.span))
}

const WGET: Spec = Spec {
    short_values: "aeioOPtTUwQADRXlIB",
    long_values: &[
        "append-output",
        "execute",
        "input-file",
        "output-file",
        "output-document",
        "base",
        "tries",
        "timeout",
        "dns-timeout",
        "connect-timeout",
        "read-timeout",
        "wait",
        "waitretry",
        "quota",
        "limit-rate",
        "bind-address",
        "directory-prefix",
        "cut-dirs",
        "default-page",
        "user",
        "password",
        "http-user",
        "http-password",
        "header",
        "user-agent",
        "referer",
        "post-data",
        "post-file",
        "method",
        "body-data",
        "body-file",
        "load-cookies",
        "save-cookies",
        "certificate",
        "private-key",
        "ca-certificate",
        "ca-directory",
        "level",
        "accept",
        "reject",
        "accept-regex",
        "reject-regex",
        "domains",
        "exclude-domains",
        "include-directories",
        "exclude-directories",
        "progress",
        "secure-protocol",
        "compression",
        "max-redirect",
        "restrict-file-names",
        "start-pos",
        "proxy-user",
        "proxy-password",
        "config",
        "local-encoding",
        "remote-encoding",
        "use-askpass",
        "retry-on-http-error",
        "hsts-file",
        "warc-file",
        "rejected-log",
        "regex-type",
    ],
    long_flags: &[
        "quiet",
        "verbose",
        "no-verbose",
        "help",
        "version",
        "background",
        "continue",
        "spider",
        "timestamping",
        "no-clobber",
        "recursive",
        "mirror",
        "page-requisites",
        "convert-links",
        "no-parent",
        "content-disposition",
        "no-check-certificate",
        "show-progress",
        "force-directories",
        "no-directories",
        "inet4-only",
    ],
    ..Spec::FLAGS
};

fn wget(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = WGET.parse(call.args);
    if only_informs(&parsed) || parsed.has('h', "") || parsed.has('V', "") {
        return Stream::Terminal;
    }
    for (short, long) in [('o', "output-file"), ('a', "append-output"), ('\0', "save-cookies")] {
        for path in parsed.values(short, long) {
            if !path.is("-") {
                machine.change(path, Touch::Write, false);
            }
        }
    }
    let document = parsed.value('O', "output-document");
    let printed = document.is_some_and(|path| path.is("-"))
        || (call.name == "fetch" && parsed.value('o', "").is_some_and(|path| path.is("-")));
    match document {
        Some(path) if !path.is("-") => {
            machine.change(path, Touch::Write, false);
            machine.remember_file(path, Stream::Network(call.name.to_owned()), false);
        }
        Some(_) => {}
        None if parsed.has('\0', "spider") => {}
        None => {
            let folder = parsed.value('P', "directory-prefix");
            if let Some(folder) = folder {
                machine.change(folder, Touch::Create, false);
            }
            for name in parsed.operands.iter().filter_map(|url| remote_name(url)) {
                let path = folder.map_or_else(|| name.clone(), |folder| below(folder, &name));
                machine.change(&path, Touch::Write, false);
                machine.remember_file(&path, Stream::Network(call.name.to_owned()), false);
            }
        }
    }
    fetched(machine, &parsed.operands.clone(), printed, call)
}

/// Programs that write with `-o` below `-d`, and print nothing that matters.
fn aria(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const ARIA: Spec = Spec {
        short_values: "odijsxkZTSUcPa",
        long_values: &[
            "out",
            "dir",
            "input-file",
            "output",
            "paths",
            "format",
            "header",
            "user-agent",
        ],
        ..Spec::FLAGS
    };
    let parsed = ARIA.parse(call.args);
    let folder = parsed.value('d', "dir").filter(|_| call.name == "aria2c");
    let output = parsed.value('o', "out").or_else(|| parsed.value('\0', "output"));
    match (folder, output) {
        (_, Some(path)) if path.is("-") => {
            return fetched(machine, &parsed.operands.clone(), true, call);
        }
        (Some(folder), Some(path)) => machine.change(&below(folder, path), Touch::Write, false),
        (None, Some(path)) => machine.change(path, Touch::Write, false),
        (Some(folder), None) => machine.change(folder, Touch::Create, false),
        (None, None) => {}
    }
    fetched(machine, &parsed.operands.clone(), false, call)
}

fn httpie(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "oaApsF",
        long_values: &[
            "output",
            "auth",
            "auth-type",
            "print",
            "style",
            "session",
            "proxy",
            "verify",
            "timeout",
        ],
        long_flags: &[
            "download", "follow", "headers", "body", "verbose", "form", "json", "help", "version",
        ],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    if only_informs(&parsed) {
        return Stream::Terminal;
    }
    let output = parsed.value('o', "output");
    if let Some(path) = output {
        machine.change(path, Touch::Write, false);
    }
    let printed = output.is_none() && !parsed.has('d', "download");
    let urls: Vec<&Field> = parsed.operands.iter().take(2).copied().collect();
    fetched(machine, &urls, printed, call)
}

/// Programs that print what a page or a host says.
fn prints(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let parsed = Spec::FLAGS.parse(call.args);
    fetched(machine, &first_operands(&parsed), true, call)
}

fn first_operands<'a>(parsed: &Parsed<'a>) -> Vec<&'a Field> {
    parsed.operands.iter().take(1).copied().collect()
}

/// netcat: with `-e` or `-c` whoever connects gets a shell.
fn netcat(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    const SPEC: Spec = Spec {
        short_values: "egGiIMmOpPqsTVwWxX",
        long_values: &[
            "exec",
            "sh-exec",
            "lua-exec",
            "source",
            "source-port",
            "wait",
            "proxy",
            "idle-timeout",
        ],
        ..Spec::FLAGS
    };
    let parsed = SPEC.parse(call.args);
    let executes =
        parsed.has('e', "exec") || parsed.has('\0', "sh-exec") || parsed.has('\0', "lua-exec");
    if executes {
        machine.opaque(call.name, "it gives a program to whoever is on the other side", call.span);
    }
    fetched(machine, &first_operands(&parsed), !parsed.has('z', ""), call)
}

/// socat: `EXEC:` and `SYSTEM:` run a program for the other side.
fn socat(machine: &mut Machine<'_>, call: &Call<'_>) -> Stream {
    let executes = call.args.iter().any(|arg| {
        let text = arg.prefix().to_ascii_uppercase();
        text.starts_with("EXEC:") || text.starts_with("SYSTEM:") || text.starts_with("SHELL:")
    });
    if executes {
        machine.opaque("socat", "it gives a program to whoever is on the other side", call.span);
    }
    Stream::Network("socat".to_owned())
}
