//! How SQLite goes about the questions: by an index, never through everything.

use super::{COUNT, DUE, MARKED, NEXT_OUTGOING, NEXT_WAKE, streams_query};
use crate::sqlite::{Settings, schema};

// APR-6: with a hundred thousand that wait, finding what is next costs what it costs with one.
#[test]
fn every_question_about_marks_is_answered_by_an_index_in_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let connection = schema::open(&Settings::within(folder.path())).unwrap();
    let (marked, due) = (streams_query(MARKED), streams_query(DUE));
    for (query, index) in [
        (marked.as_str(), "streams_by_label (label=? AND rowid>?)"),
        (COUNT, "streams_by_label (label=?)"),
        (due.as_str(), "streams_by_wake (wake_at<?)"),
        (NEXT_WAKE, "streams_by_wake"),
        (NEXT_OUTGOING, "outbox_by_due"),
    ] {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
        let plan = statement.raw_query().mapped(|row| row.get::<_, String>(3));
        let plan: Vec<String> = plan.map(Result::unwrap).collect();
        assert_eq!(plan.len(), 1, "nothing is sorted afterwards: {plan:?}");
        assert!(plan[0].contains(index), "{query}: {plan:?}");
    }
}
