//! What preparing and adopting cost where there are many files and few of them change.

use std::time::Instant;

use super::{Run, write};
use crate::harness::{World, number_from_environment};

// EXE-5: `AURORA_DESK_FILES` says another number; the times are printed, not judged.
#[test]
fn only_what_changed_is_written_among_many_files() {
    let files = number_from_environment("AURORA_DESK_FILES", 1_500);
    let world = World::on_disk();
    for file in 0..files {
        world.write(format!("d{}/e{}/f{file}", file % 31, file % 7), format!("file {file}\n"));
    }
    let run = Run::within(world);
    let told = |what: &str, began: Instant| println!("{files} files: {what} {:?}", began.elapsed());
    let began = Instant::now();
    let desk = run.home.desk(1).unwrap();
    told("desk made in", began);
    let began = Instant::now();
    desk.prepare().unwrap();
    told("first prepared in", began);
    for turn in 0..3 {
        let began = Instant::now();
        let prepared = desk.prepare().unwrap();
        told("prepared in", began);
        assert!(prepared.paths <= 3, "only what the former attempt left is touched");
        for file in 0..5 {
            write(desk.path(), &format!("d1/e1/work-{file}"), format!("{turn}\n"));
        }
        let began = Instant::now();
        let changes = desk.changes(&prepared.base).unwrap();
        told("changes told in", began);
        assert_eq!(changes.files(), 5);
        let began = Instant::now();
        assert!(desk.adopt(&prepared.base, &changes.result, "a task").unwrap().is_done());
        told("adopted in", began);
        for file in 0..3 {
            write(desk.path(), &format!("left-{file}"), "left\n");
        }
    }
}
