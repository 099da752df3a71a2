//! What the abstract shell makes of lines, as argv that programs would see.

use aurora_model::Context;

use super::analyse;

fn argvs(line: &str) -> Vec<String> {
    let context = Context {
        cwd: Some("/home/u/proj".to_owned()),
        root: Some("/home/u/proj".to_owned()),
        home: Some("/home/u".to_owned()),
        ..Context::default()
    };
    let analysis = analyse(line, &context);
    let mut out: Vec<String> = analysis
        .commands
        .iter()
        .map(|simple| {
            let words = simple.argv.iter().map(|word| word.as_deref().unwrap_or("…").to_owned());
            words.collect::<Vec<_>>().join("|")
        })
        .collect();
    for effect in &analysis.effects {
        if let aurora_model::EffectKind::Opaque { why, .. } = &effect.kind {
            out.push(format!("OPAQUE {why}"));
        }
    }
    out
}

#[test]
fn words_expand_as_bash_expands_them() {
    for (line, expected) in [
        ("foo a 'b c' \"d e\"", vec!["foo|a|b c|d e"]),
        (r"f\oo $'\x72m' a\ b", vec!["foo|rm|a b"]),
        ("foo {a,b}{1,2}", vec!["foo|a1|a2|b1|b2"]),
        ("foo {1..3} {a..c} {01..03}", vec!["foo|1|2|3|a|b|c|01|02|03"]),
        ("foo {a} {a,b {,x}", vec!["foo|{a}|{a,b|x"]),
        ("X=rm; $X -rf y", vec!["rm|-rf|y"]),
        ("foo${IFS}-rf${IFS}x", vec!["foo|-rf|x"]),
        ("A='a b'; foo $A \"$A\"", vec!["foo|a|b|a b"]),
        ("foo $(bar; echo x)", vec!["bar", "echo|x", "foo|…"]),
        ("foo ~/x ~ ~u", vec!["foo|/home/u/x|/home/u|/home/u"]),
        ("foo $UNSET", vec!["foo|…"]),
        ("foo *.rs a", vec!["foo|…|a"]),
        ("arr=(a 'b c'); foo \"${arr[@]}\" ${arr[1]}", vec!["foo|a|b c|b|c"]),
        (
            "x=abcdef; foo ${x:1:2} ${x#ab} ${x%ef} ${x/cd/X} ${x^^}",
            vec!["foo|bc|cdef|abcd|abXef|ABCDEF"],
        ),
        ("x=y; y=z; foo ${!x}", vec!["foo|z"]),
        ("foo # comment\nbar", vec!["foo", "bar"]),
        ("foo a#b", vec!["foo|a#b"]),
        ("f() { bar \"$1\" \"$@\"; }; f x y", vec!["f|x|y", "bar|x|x|y"]),
        ("if a; then b; elif c; then d; else e; fi", vec!["a", "c", "b", "d", "e"]),
        ("for i in 1 2; do foo $i; done", vec!["foo|1", "foo|2"]),
        ("while read x; do foo \"$x\"; done < f", vec!["read|x", "foo|…", "read|x", "foo|…"]),
        ("case $x in a|b) foo;; *) bar;; esac", vec!["foo", "bar"]),
        ("(a; b) | { c; d; } &", vec!["a", "b", "c", "d"]),
        ("a && b || c; ! d", vec!["a", "b", "c", "d"]),
        ("[[ $x == (a|b) && -n $(foo) ]] && bar", vec!["foo", "bar"]),
        ("(( x = 1 + $(foo) )); bar $((1+2))", vec!["foo", "bar|…"]),
        ("foo <(bar) >(baz)", vec!["bar", "baz", "foo|/dev/fd/100|/dev/fd/62"]),
        (
            "eval 'foo bar'; eval \"x=1\" 'baz'",
            vec!["eval|foo bar", "foo|bar", "eval|x=1|baz", "baz"],
        ),
        ("trap 'foo x' EXIT INT", vec!["trap|foo x|EXIT|INT", "foo|x", "foo|x"]),
        ("alias g='git push'; g --force", vec!["git|push", "git|push|--force", "g|--force"]),
        ("cat <<EOF | foo\n$(bar)\nEOF\nbaz", vec!["bar", "cat", "foo", "baz"]),
        ("foo \"$(cat <<'EOF'\nit's (fine\nEOF\n)\"", vec!["cat", "foo|it's (fine"]),
        ("if x; then y", vec!["OPAQUE expected `fi`"]),
        ("foo 'x", vec!["OPAQUE a single quote is not closed"]),
        (
            "time -p foo; coproc bar; function f { baz; }; f",
            vec!["foo", "coproc", "bar", "f", "baz"],
        ),
        ("x=1 y=2 foo; export z=3; bar $z", vec!["foo", "export", "bar|3"]),
        ("foo ${x:-a} ${y:+b}", vec!["foo|a|b", "foo|a", "foo|…|b", "foo|…"]),
        ("read a b <<< 'rm -rf x'; $a $b", vec!["read|a|b", "rm|-rf|x"]),
        ("set -- rm -rf x; \"$@\"", vec!["set|--|rm|-rf|x", "rm|-rf|x"]),
        (
            "`foo \\`bar\\``",
            vec!["bar", "foo|…", "…", "OPAQUE which program runs is not known beforehand"],
        ),
        ("select x in a; do foo; done", vec!["foo"]),
        ("for ((i=0;i<3;i++)); do foo; done", vec!["foo", "foo"]),
        ("foo >out 2>&1 </dev/null &>>log {fd}>x", vec!["foo"]),
        ("foo \\\n  bar", vec!["foo|bar"]),
        ("until false; do foo; done", vec!["false", "foo", "false", "foo"]),
        ("echo a;", vec!["echo|a"]),
        (
            "if [ -f x ]; then B=main; else B=dev; fi; foo $B",
            vec!["[|-f|x|]", "foo|main", "foo|dev"],
        ),
    ] {
        assert_eq!(argvs(line), expected, "{line}");
    }
}

#[test]
fn hostile_text_gets_an_answer() {
    for line in [
        "{".repeat(8192),
        "{a,".repeat(4000),
        "$(".repeat(4000),
        "(".repeat(4000),
        "\"$(".repeat(3000),
        "`\\`".repeat(3000),
        "${x:-".repeat(3000),
        "if ".repeat(4000),
        "{1..9}".repeat(2000),
        "a\0b".to_owned(),
        "x".repeat(1 << 20),
        "f(){ f|f& };f".to_owned(),
        "f(){ g;g; }; g(){ h;h; }; h(){ i;i; }; i(){ f; }; f".to_owned(),
        "a=b;".repeat(8000),
        "\u{202e}rm".to_owned(),
        format!(": \"${{y:={}$(x)}}\"", "$y:=".repeat(70)),
        "a[$(".repeat(150) + "rm -rf build)0]=1",
        format!("test -v '{}'", "a[$(".repeat(150)),
    ] {
        let _ = argvs(&line);
    }
}

#[test]
fn what_is_put_together_from_itself_is_bounded() {
    let times = |start: &str, step: &str, end: &str| format!("{start}{}{end}", step.repeat(40));
    for line in [
        times("p=aaaa;", "p=$p$p;", "echo $p"),
        times("p=a;", "p+=$p;", "echo $p"),
        times("a=(x y);", "a=(\"${a[@]}\" \"${a[@]}\");", "echo \"${a[@]}\""),
        times("set -- x y;", "set -- \"$@\" \"$@\";", "echo \"$@\""),
        times("f() { echo $1$1; }; a=x;", "a=$(f $a);", "echo $a"),
        times("python3 -c 'p = \"ab\"\n", "p = p + p\n", "print(p)'"),
        times("unknown ", "-c ", "rm"),
    ] {
        // The proof is that this ends.
        argvs(&line);
    }
}
