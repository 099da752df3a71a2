//! Scripts made to be slow or large to read.

use super::*;

#[test]
fn text_that_doubles_is_forgotten_before_it_fills_the_memory() {
    let doubled = [
        (Python, "a='x'\n", "a=f'{a}{a}'\n", "import os; os.system(a)"),
        (Python, "a='x'\n", "a=a.replace('x','xx')\n", "import os; os.system(a)"),
        (Python, "a='x'\n", "a=a.join([a,a,a])\n", "import os; os.system(a)"),
        (Python, "a='x'\n", "a='{}{}'.format(a,a)\n", "import os; os.system(a)"),
        (Python, "a='x'\n", "a='%s%s' % (a,a)\n", "import os; os.system(a)"),
        (Python, "a='x'\n", "a=a*9\n", "import os; os.system(a)"),
        (Python, "a='x'\n", "a+=a\n", "import os; os.system(a)"),
        (Python, "a=[1]\n", "a=a+a\n", "import os; os.system(a)"),
        (Python, "a=[1]\n", "a=[a,a]\n", "import os; os.system(a)"),
        (Python, "a=[1]\n", "a=(a or a)\n", "import os; os.system(a)"),
        (Python, "a=[1]\n", "a={'b':a,'c':a}\n", "import os; os.system(a)"),
        (JavaScript, "let a='x';", "a=`${a}${a}`;", "require('child_process').execSync(a)"),
        (Ruby, "a='x'\n", "a=\"#{a}#{a}\"\n", "system(a)"),
        (Perl, "$a='x';", "$a=\"$a$a\";", "system($a)"),
        (Php, "$a='x';", "$a=\"$a$a\";", "system($a);"),
        (PowerShell, "$a='x';", "$a = \"$a$a\";", "iex $a"),
    ];
    for (lang, before, step, after) in doubled {
        let code = format!("{before}{}{after}", step.repeat(60));
        let found = shown(&analyse(lang, &code));
        assert!(found.len() < 100, "{lang:?} {step}: {}", found.len());
    }
}

#[test]
fn a_script_that_does_very_much_is_cut_short() {
    let findings = analyse(Python, &format!("import os\n{}", "os.system('x')\n".repeat(5000)));
    assert_eq!(findings.len(), 1025);
    assert!(matches!(findings.last().map(|last| &last.what), Some(What::Opaque { .. })));
}

#[test]
fn chains_without_end_do_not_nest() {
    for code in ["'a'.x", "f()", "[1].x()"] {
        let (head, link) = code.split_at(code.find(['.', '(']).unwrap_or(0));
        let found = analyse(JavaScript, &format!("{head}{}", link.repeat(20_000)));
        assert!(found.is_empty(), "{code}");
    }
}
