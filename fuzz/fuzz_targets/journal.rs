//! Journals: any bytes, and records that say anything under right checksums.
#![no_main]

use fragd::{
    cli::{self, Command},
    journal::{Entry, JournalOpenError, Reader, Start, Steps},
};
use fragd_fuzz::{journal::Writer, pieces};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [choice, data @ ..] = data else { return };
    let journal = if choice & 1 == 0 {
        data.to_vec()
    } else {
        let mut writer = Writer::new();
        pieces(data, 256).into_iter().for_each(|body| writer.record(body));
        writer.bytes
    };
    let whole = entries(&journal, journal.len().max(1));
    let cut = entries(&journal, 1 + usize::from(choice >> 1));
    // Not where pieces end, so that both say the same of everything else.
    assert_eq!(whole, cut);
    let mut steps = Steps::new();
    steps.feed(&journal);
    match steps.start() {
        Ok(Some(start)) => made_from(start),
        Ok(None) | Err(_) => return,
    }
    let mut count = 0;
    while let Some(step) = steps.next_step().or_else(|| steps.last_step()) {
        let _ = (step.answers.len(), step.sent.len());
        count += 1;
        assert!(count <= journal.len());
    }
});

/// Reads a journal in chunks of that length. Returns its entries as text, and its end.
fn entries(journal: &[u8], piece: usize) -> (Vec<String>, Option<String>) {
    let mut reader = Reader::new();
    let mut entries = Vec::new();
    for piece in journal.chunks(piece) {
        reader.feed(piece);
        match reader.read_head() {
            Ok(_) => {}
            Err(
                unfit @ (JournalOpenError::NoJournal
                | JournalOpenError::Version(_)
                | JournalOpenError::NoStart(_)),
            ) => {
                return (entries, Some(unfit.to_string()));
            }
        }
        loop {
            match reader.next_entry() {
                Ok(Some(located)) => {
                    if let Entry::Asset(answer) = &located.entry {
                        let _ = answer.to_string();
                    }
                    entries.push(format!("{located:?}"));
                }
                Ok(None) => break,
                Err(damage) => return (entries, Some(damage.to_string())),
            }
        }
    }
    let end = reader.finish().err().map(|damage| damage.to_string());
    (entries, end)
}

/// Reads what the server was made from, as a replay does.
fn made_from(start: &Start) {
    let words = start.arguments.iter().map(Into::into);
    if let Ok(Command::Serve(asked)) = cli::parse(std::iter::once("fragd".into()).chain(words)) {
        let config = start.config.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
        let _ = asked.build(config);
    }
}
