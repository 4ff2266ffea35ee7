//! Retired words and their replacements; the terms are in `docs/glossary.md`.
//!
//! A pattern is words separated by spaces. `{a,b}` is a choice, `word*` a prefix, `*word*` a part, and a last
//! element `!a,the_map` exempts matches that these words follow (`_` stands for a space).

/// Rule, patterns separated by `;`, replacement.
pub(super) const RETIRED: &[(&str, &str, &str)] = &[
    ("T3", "some{body,one};nobody;every{body,one};{who,whom}ever", "client, player, operator"),
    ("T3", "what{ever,soever};wherever;who{se}ever", "name the thing: any datagram, every map"),
    ("T3", "anew", "again, restart"),
    ("T3", "manieth;misspelt;feign*;mended;for ever;to and fro;at hand", "plain word"),
    ("T3", "upon;perhaps", "on; maybe, or state the condition"),
    ("T3", "dressed", "with its powerups, encoded"),
    ("T3", "so {many,much}", "a limit, N"),
    ("T3", "unsound*;soundness;{is,are,be} sound", "valid, invalid, invariants"),
    ("T3", "weather", "injected faults"),
    ("T3", "luck", "random numbers"),
    ("T3", "newcomer*;stranger*;bystander*", "connecting client, unproven address, other clients"),
    ("T3", "last words;goodbye*;farewell*", "disconnect message"),
    ("T3", "{throw,throws,threw,thrown,throwing} out", "drop, kick"),
    ("T3", "{let,lets} in !the", "accept"),
    ("T3", "{turn,turns,turned} away", "reject, refuse"),
    ("T3", "{go,goes,went} on", "continue"),
    ("T3", "{play,plays,played} on !a,the,map,maps,oa*,fragd,it,one,this", "continue"),
    ("T3", "{stand,stands} {in,for,behind,before,beside}", "is, means, follows"),
    (
        "T3",
        "{lies,lie,lay} {in,at,on,behind,about,there} !a_line,the_line,one_line,a_plane,the_plane,one_plane",
        "is",
    ),
    ("T3", "{live,lives,lived} through", "replay, run"),
    ("T3", "{have,has,had} again;{have,has,had} {a_run,the_run,it,run} again", "reproduce, replay"),
    ("T3", "doubled;doubling", "duplicated"),
    ("T3", "{is,are} no !longer,more", "is not a"),
    ("T3", "of the family", "Quake III servers"),
    (
        "T3",
        "the {field,field's} !of,is,has,and,name,names,width,widths,table,tables,count,counts,list,lists,type,types",
        "the engine, administrators",
    ),
    ("T3", "{get,gets} on;works on;had enough;looked at", "plain verb"),
    ("T4", "^who;{to,from,of,for,by,with,than} who", "a noun: client, player, server, entity"),
    ("T7", "colour*;armour*;behaviour*;neighbour*;centre*;favour*;grey*", "American spelling"),
    (
        "T7",
        "*normalis*;*recognis*;*realis*;*initialis*;*serialis*;*optimis*",
        "American spelling (-ize)",
    ),
];

/// First words that hide the subject of a header.
pub(super) const HEADER_OPENERS: &[&str] = &[
    "what",
    "who",
    "whom",
    "whose",
    "whoever",
    "whatever",
    "where",
    "wherever",
    "how",
    "why",
    "when",
    "which",
    "whether",
    "something",
    "somebody",
    "everything",
    "everybody",
    "nothing",
    "nobody",
    "those",
    "it",
    "this",
];

/// First words that hide the subject of an item's documentation.
pub(super) const ITEM_OPENERS: &[&str] =
    &["what", "who", "whom", "whose", "whoever", "whatever", "where", "how"];

/// First words of test names that hide the subject.
pub(super) const TEST_OPENERS: &[&str] = &[
    "what",
    "who",
    "whom",
    "whoever",
    "whatever",
    "where",
    "how",
    "it",
    "those",
    "somebody",
    "nobody",
    "everybody",
    "the_dead",
    "the_nameless",
];

/// Retired type names and their replacements.
pub(super) const RETIRED_TYPES: &[(&str, &str)] = &[
    ("Thing", "Entity"),
    ("Step", "a name with an owner, e.g. ReplayStep"),
    ("Kind", "a name with an owner, e.g. SettingKind"),
    ("Side", "a name with an owner, e.g. BrushSide"),
    ("Place", "a name with an owner and without `place`, e.g. CodePosition"),
    ("House", "State"),
    ("Things", "Entities"),
    ("What", "EntityKind"),
    ("Populated", "HasClients"),
    ("People", "Clients"),
    ("Luggage", "CarriedItems"),
    ("Presence", "PvsIndex"),
    ("Occupancy", "PvsLocation"),
    ("Ears", "CommandOrderChecker"),
    ("Said", "NumberedLine"),
    ("Harm", "Fault"),
    ("Weather", "FaultRates"),
    ("Voices", "EventLog"),
    ("Strip", "Lagometer"),
    ("Gauge", "Measurement"),
    ("Guests", "Housekeeping"),
    ("Complaint", "RateLimitedWarning"),
    ("Dialect", "Framing"),
    ("ClientWire", "Protocol"),
    ("Means", "MeansOfDeath"),
    ("Colour", "TeamColor"),
    ("Trouble", "AssetMismatch"),
    ("Penance", "SuicidePenalty"),
    ("Deeds", "FlagAssists"),
];

/// Turns of phrase that an error message avoids.
pub(super) const ERROR_PHRASES: &[&str] = &[" is no ", " are no ", "there is no ", "cannot be "];

/// A pattern of which every choice has been made.
pub(super) struct Phrase {
    pub(super) rule: &'static str,
    pub(super) words: Vec<String>,
    pub(super) exempt: Vec<String>,
    pub(super) suggestion: &'static str,
    /// Whether the phrase has to open a sentence.
    pub(super) opens: bool,
}

/// All phrases of [`RETIRED`].
pub(super) fn phrases() -> Vec<Phrase> {
    let mut all = Vec::new();
    for (rule, patterns, suggestion) in RETIRED {
        for pattern in patterns.split(';') {
            let (pattern, exempt) = pattern.split_once(" !").unwrap_or((pattern, ""));
            let opens = pattern.starts_with('^');
            for phrase in choices(pattern.trim_start_matches('^')) {
                all.push(Phrase {
                    rule,
                    words: phrase.replace('_', " ").split(' ').map(str::to_owned).collect(),
                    exempt: exempt
                        .split(',')
                        .filter(|words| !words.is_empty())
                        .map(|words| words.replace('_', " "))
                        .collect(),
                    suggestion,
                    opens,
                });
            }
        }
    }
    all
}

/// Expands `{a,b}`.
fn choices(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let (group, after) = rest.split_once('}').expect("a choice is closed");
    let tails = choices(after);
    group
        .split(',')
        .flat_map(|choice| tails.iter().map(move |tail| format!("{before}{choice}{tail}")))
        .collect()
}

/// Whether a word is meant by a word of a pattern.
pub(super) fn matches(pattern: &str, word: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(part), Some(_)) => word.contains(part.trim_end_matches('*')),
        (None, Some(prefix)) => word.starts_with(prefix),
        _ => word == pattern,
    }
}
