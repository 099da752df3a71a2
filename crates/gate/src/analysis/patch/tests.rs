//! Tables of patches: what they touch, and which are refused (POL-8, POL-9).

use aurora_model::{Count, EffectKind, Touch};

use super::{Change, analyse, effects};

/// The files of a patch in short words, or the start of the reason for refusing it.
fn seen(patch: &str) -> String {
    let analysis = analyse(patch.as_bytes());
    if let Some(refusal) = analysis.refusal {
        return format!("refused {}: {}", refusal.line, refusal.why);
    }
    let text = |name: &Option<Vec<u8>>| {
        name.as_ref().map_or("-".to_owned(), |name| String::from_utf8_lossy(name).into_owned())
    };
    let files: Vec<String> = analysis
        .files
        .iter()
        .map(|file| {
            let (old, new) = (text(&file.old), text(&file.new));
            let binary = if file.binary { " binary" } else { "" };
            let (added, removed) = (file.added_lines, file.removed_lines);
            format!("{:?} {old} {new} +{added} -{removed}{binary}", file.change)
        })
        .collect();
    files.join("; ")
}

/// Compares every row of a table and shows all that differ.
fn check(table: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (patch, expected) in table {
        let found = seen(patch);
        let refused = *expected == "refused" && found.starts_with("refused");
        if found != *expected && !refused {
            wrong.push_str(&format!("{patch}\n  is   {found}\n  want {expected}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

const HUNK: &str = "@@ -1 +1 @@\n-a\n+b\n";

#[test]
fn every_header_form_is_read() {
    check(&[
        (
            &format!("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n{HUNK}"),
            "Modified x x +1 -1",
        ),
        (
            "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
            "Added - x +1 -0",
        ),
        ("diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n", "Added - x +0 -0"),
        (
            "diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            "Deleted x - +0 -1",
        ),
        (
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
            "Renamed x y +0 -0",
        ),
        (
            &format!(
                "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\nindex 1..2 100644\n--- a/x\n+++ b/y\n{HUNK}"
            ),
            "Renamed x y +1 -1",
        ),
        ("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n", "Copied x y +0 -0"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "Modified x x +0 -0"),
        (
            "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQz;N}1V0000\n\nliteral 3\nKcmZQz;N}1V0000\n\n",
            "refused",
        ),
        (
            "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQzWMT#Y01f~L\n\nliteral 3\nKcmZQzWMT#Y01f~L\n\n",
            "Modified x x +0 -0 binary",
        ),
        (
            "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n",
            "Modified x x +0 -0 binary",
        ),
        (
            &format!(
                "diff --git \"a/t\\tb\\303\\244\" \"b/t\\tb\\303\\244\"\nindex 1..2 100644\n--- \"a/t\\tb\\303\\244\"\n+++ \"b/t\\tb\\303\\244\"\n{HUNK}"
            ),
            "Modified t\tbä t\tbä +1 -1",
        ),
        (
            &format!("diff --git a/a b b/a b\nindex 1..2 100644\n--- a/a b\t\n+++ b/a b\t\n{HUNK}"),
            "Modified a b a b +1 -1",
        ),
        (&format!("diff --git i/x w/x\n--- i/x\n+++ w/x\n{HUNK}"), "Modified x x +1 -1"),
        (
            "diff --git a/x b/x\r\nindex 1..2 100644\r\n--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n",
            "Modified x x +1 -1",
        ),
        (&format!("--- a/x\n+++ b/x\n{HUNK}"), "Modified x x +1 -1"),
        (&format!("--- x\n+++ x\n{HUNK}"), "Modified x x +1 -1"),
        (&format!("--- a/src/x\n+++ a/src/x\n{HUNK}"), "Modified src/x src/x +1 -1"),
        (&format!("--- src/x\n+++ src/x\n{HUNK}"), "Modified x x +1 -1"),
    ]);
}

#[test]
fn prose_around_a_patch_is_skipped() {
    check(&[(
        &format!(
            "From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: [PATCH] delete --- a/.env\n\n- rm -rf\n---\n x | 2 +-\n 1 file changed\n\ndiff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n{HUNK}-- \n2.47.3\n\n"
        ),
        "Modified x x +1 -1",
    )]);
}

#[test]
fn content_that_looks_like_a_header_is_content() {
    check(&[
        (
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n--- a/.env\n+++ b/.env\n diff --git a/y b/y\n-@@ -1 +1 @@\n+@@ -1 +1 @@\n",
            "Modified x x +2 -2",
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/.env\n+++ b/.env\n \n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
            "Modified x x +1 -1; Modified y y +1 -1",
        ),
        (
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+-- \n\\ No newline at end of file\n",
            "Modified x x +2 -1",
        ),
    ]);
}

#[test]
fn what_could_touch_something_else_is_refused() {
    let table: Vec<String> = [
        "",
        "hello\n",
        "diff --git a/x b/x\n--- a/y\n+++ b/y\n@HUNK",
        "diff --git a/x b/y\n--- a/x\n+++ b/y\n@HUNK",
        "diff --git a/x b/x\n--- a/x\n+++ b/y\n@HUNK",
        "diff --git a/x b/y\nrename from x\nrename to z\n",
        "diff --git a/x b/y\nrename from x\nrename to y\n--- a/z\n+++ b/y\n@HUNK",
        "diff --git a/x b/y\nrename from x\n",
        "diff --git a/../x b/../x\n--- a/../x\n+++ b/../x\n@HUNK",
        "diff --git a/x/../../y b/x/../../y\n--- a/x/../../y\n+++ b/x/../../y\n@HUNK",
        "--- /etc/passwd\n+++ /etc/passwd\n@HUNK",
        "--- a//etc/passwd\n+++ b//etc/passwd\n@HUNK",
        "--- a/.git/config\n+++ b/.git/config\n@HUNK",
        "--- a/x/.GIT/hooks/y\n+++ b/x/.GIT/hooks/y\n@HUNK",
        "--- a/.git./config\n+++ b/.git./config\n@HUNK",
        "--- a/git~1/config\n+++ b/git~1/config\n@HUNK",
        "--- a/.g\u{200c}it/config\n+++ b/.g\u{200c}it/config\n@HUNK",
        "--- a/.git::$INDEX_ALLOCATION/x\n+++ b/.git::$INDEX_ALLOCATION/x\n@HUNK",
        "--- a/\n+++ b/\n@HUNK",
        "--- a/x\0y\n+++ b/x\0y\n@HUNK",
        "--- \"a/x\\000y\"\n+++ \"b/x\\000y\"\n@HUNK",
        "--- \"a/x\n+++ \"b/x\n@HUNK",
        "--- \"a/x\"y\n+++ \"b/x\"y\n@HUNK",
        "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-c\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\ngarbage\n+b\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b",
        "--- a/x\n+++ b/y\n@HUNK",
        "--- a/x 2020-01-01 10:00:00\n+++ b/x 2020-01-01 10:00:00\n@HUNK",
        "--- a/x\ty\t2020-01-01\n+++ b/x\ty\t2020-01-01\n@HUNK",
        "--- a/x\t1970-01-01 03:00:00 +0300\n+++ b/x\n@HUNK",
        "@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/x b/x\nold mode 100644\nnew mode 100644\n",
        "diff --git a/x b/x\nnew file mode 040000\nindex 0..1\n",
        "diff --git a/x b/x\nnew file mode 100644\ndeleted file mode 100644\n",
        "diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n@HUNK",
        "diff --git a/x b/x\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
        "diff --git a/x b/x\nold mode 100644\nnew mode 755\n",
        // A lone header leaks its names into the next one (found by the oracle).
        "diff --git a/x b/x\nprose\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        // A quoted second name wins over a shorter first one (found by the oracle).
        "--- \"a/x\"\n+++ \"b/x.orig\"\n@HUNK",
        "diff --git a/x b/x\nGIT binary patch\nnonsense\n",
    ]
    .iter()
    .map(|text| text.replace("@HUNK", HUNK))
    .collect();
    let rows: Vec<(&str, &str)> = table.iter().map(|text| (text.as_str(), "refused")).collect();
    check(&rows);
}

#[test]
fn a_refusal_says_its_line_and_keeps_what_came_before() {
    let patch = format!("--- a/x\n+++ b/x\n{HUNK}--- a/../y\n+++ b/../y\n{HUNK}");
    let analysis = analyse(patch.as_bytes());
    assert_eq!(analysis.files.len(), 1);
    assert_eq!(analysis.refusal.as_ref().map(|refusal| refusal.line), Some(6));
    let last = effects(&analysis).pop().unwrap().kind;
    assert!(matches!(last, EffectKind::Opaque { what, .. } if what == "patch"));
}

#[test]
fn files_become_effects() {
    let patch = format!(
        "diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n\
         diff --git a/gone2 b/gone2\ndeleted file mode 100644\nindex 1..0\n\
         diff --git a/m b/m\n--- a/m\n+++ b/m\n{HUNK}\
         diff --git a/r b/s\nsimilarity index 100%\nrename from r\nrename to s\n\
         diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n\
         diff --git a/c b/d\nsimilarity index 100%\ncopy from c\ncopy to d\n\
         diff --git a/e b/e\nold mode 100644\nnew mode 100755\n\
         diff --git a/l b/l\nnew file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n"
    );
    let analysis = analyse(patch.as_bytes());
    assert_eq!(analysis.refusal, None);
    assert_eq!(analysis.files[0].change, Change::Deleted);
    let mut touched = Vec::new();
    for effect in effects(&analysis) {
        match effect.kind {
            EffectKind::DeleteFiles { paths, count, recursive } => {
                let names: Vec<String> = paths.into_iter().filter_map(|p| p.resolved).collect();
                assert_eq!(names, ["gone", "gone2"]);
                assert_eq!((count, recursive), (Count::Known(2), false));
            }
            EffectKind::ChangePath { path, touch, .. } => touched.push((path.text, touch)),
            other => panic!("unexpected {other:?}"),
        }
    }
    let expected = [
        ("m", Touch::Write),
        ("r", Touch::Rename),
        ("s", Touch::Rename),
        ("n", Touch::Create),
        ("d", Touch::Create),
        ("e", Touch::Mode),
        ("l", Touch::Link),
    ];
    assert_eq!(touched, expected.map(|(name, touch)| (name.to_owned(), touch)));
}

#[test]
fn hostile_repetition_gets_an_answer() {
    for piece in [
        "diff --git a/x b/x\n",
        "--- a/x\n+++ b/x\n",
        "@@ -1 +1 @@\n",
        "diff --git ",
        " ",
        "a/ ",
        "\"",
        "\\",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        "@@ -1,99999999999 +1 @@\n",
        "\0",
        "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n",
        "\n",
        "-- \n",
        "GIT binary patch\n",
    ] {
        let text = piece.repeat((1 << 20) / piece.len());
        let _ = analyse(text.as_bytes());
        let _ = analyse(format!("diff --git {text}").as_bytes());
        let _ = analyse(format!("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n{text}").as_bytes());
    }
}
