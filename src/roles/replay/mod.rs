//! Replay role (`fragd replay`).

mod dump;
mod file;
mod report;

use std::rc::Rc;

use fragd::{
    cli::{self, Command, ExitStatus, QwOptions, ReplayOptions},
    io::{
        self, GameData,
        assets::{QuakeData, base_paths},
    },
    journal::{
        Answers, AssetMismatch, Damage, DamageKind, FindFile, ReadPack, Replay, ReplayStep,
        ReplayedAssets, Start, StepResult, checksum,
    },
    model::{Millis, UnixMillis, assets::Assets as _},
    node::Hosted,
    qwserver::QwServer,
    settings::{Choice as _, Settings, key},
    world::bsp::MAX_FILE_LEN,
};

use self::{
    file::{Journal, Pieces},
    report::Report,
};

/// Replays a journal or lists it.
pub(crate) fn run(options: &ReplayOptions) -> ExitStatus {
    io::logging::init(log::LevelFilter::Error);
    let file = match Pieces::open(&options.file) {
        Ok(file) => file,
        Err(what) => return refuse(&what),
    };
    if options.dump {
        return dump::dump(options, file).unwrap_or_else(|what| refuse(&what));
    }
    match replay(options, file) {
        Ok(report) => {
            let text = if options.json { report.json() } else { report.text() };
            super::output::show(&text, report.outcome())
        }
        Err(what) => refuse(&what),
    }
}

fn refuse(what: &str) -> ExitStatus {
    eprintln!("fragd: {what}");
    ExitStatus::UsageError
}

fn replay(options: &ReplayOptions, file: Pieces) -> Result<Report, String> {
    let clock = std::time::Instant::now();
    let mut journal = Journal::open(file)?;
    let answers = Answers::default();
    let mut stage: Option<Replay<Box<dyn Hosted>>> = None;
    let mut time = Millis(0);
    let mut result = StepResult::Same;
    while result == StepResult::Same {
        let Some(step) = journal.next_step()? else { break };
        if options.until.is_some_and(|until| step.at > until) {
            break;
        }
        time = time.max(step.at);
        result = match &mut stage {
            Some(replay) => replay.step(step, &answers),
            None => {
                let (replay, result) = begin(options, journal.start(), step, &answers)?;
                stage = Some(replay);
                result
            }
        };
    }
    if let Some(replay) = &mut stage
        && result == StepResult::Same
        && journal.is_whole()
    {
        result = replay.finish(time);
    }
    if let StepResult::AssetMismatch(mismatch @ AssetMismatch::NotHere { .. }) = &result {
        return Err(format!("{}: {mismatch}", journal.name()));
    }
    Ok(Report::new(&journal, stage.as_ref(), result, time, clock.elapsed()))
}

/// Returns the exit status for damage. A truncated journal is normal after a crash; other damage fails.
fn outcome_of(damage: Damage) -> ExitStatus {
    if damage.kind == DamageKind::CutOff { ExitStatus::Done } else { ExitStatus::Failed }
}

/// Builds the server from the start record.
fn begin(
    options: &ReplayOptions,
    start: &Start,
    step: ReplayStep,
    answers: &Answers,
) -> Result<(Replay<Box<dyn Hosted>>, StepResult), String> {
    let words = start.arguments.iter().map(Into::into);
    let parsed = cli::parse(std::iter::once("fragd".into()).chain(words));
    let asked = match parsed {
        Ok(Command::Serve(asked)) => asked,
        Ok(Command::Qw(asked)) => return begin_quakeworld(options, &asked, start, step, answers),
        _ => return Err("journal options not known to this version".to_owned()),
    };
    let config = start.config.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let settings =
        asked.build(config).map_err(|faults| format!("journal settings not accepted: {faults}"))?;
    answers.expect(step.answers.iter().cloned());
    let data = Rc::new(game_data(options, &settings));
    let files = ReplayedAssets::new(answers.clone(), find_file(&data), read_pack(data));
    let began = UnixMillis(start.began_unix_ms);
    let server = super::server_of(&asked, settings, start.entropy, began).assets(files).build();
    Ok(first_step(Box::new(server), step, answers))
}

/// Replays the first step, whose answers were used while the server was built.
fn first_step(
    server: Box<dyn Hosted>,
    step: ReplayStep,
    answers: &Answers,
) -> (Replay<Box<dyn Hosted>>, StepResult) {
    let mut replay = Replay::new(server);
    let result = replay.step(ReplayStep { answers: Vec::new(), ..step }, answers);
    (replay, result)
}

/// Builds the QuakeWorld server from the start record.
fn begin_quakeworld(
    options: &ReplayOptions,
    asked: &QwOptions,
    start: &Start,
    step: ReplayStep,
    answers: &Answers,
) -> Result<(Replay<Box<dyn Hosted>>, StepResult), String> {
    let config = start.config.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let settings =
        asked.build(config).map_err(|fault| format!("journal settings not accepted: {fault}"))?;
    answers.expect(step.answers.iter().cloned());
    let basedir = options.basepath.as_ref().map(Into::into).or_else(|| asked.basedir.clone());
    let asked = QwOptions { basedir, ..asked.clone() };
    let data = QuakeData::open(asked.folders(&settings));
    let find = move |name: &str, len: u64, sum: u32| {
        let bytes = data.read(name, MAX_FILE_LEN as u64).ok()?;
        (bytes.len() as u64 == len && checksum(&bytes) == sum).then_some(bytes)
    };
    let files = ReplayedAssets::new(answers.clone(), Box::new(find), Box::new(|_, _| None));
    let began = UnixMillis(start.began_unix_ms);
    let made = super::qw::server_options(&asked, settings, Box::new(files), start.entropy, began);
    let server = QwServer::start(made, Millis(0)).map_err(|error| error.to_string())?;
    Ok(first_step(Box::new(server), step, answers))
}

/// Opens the recorded search paths, or those of the command line.
fn game_data(options: &ReplayOptions, settings: &Settings) -> GameData {
    let folder = settings.choice(key::GAME).name();
    let paths = match &options.basepath {
        Some(places) => {
            for warning in super::game_data::missing_folders("--basepath", places) {
                eprintln!("fragd: {warning}");
            }
            base_paths(places, folder)
        }
        None => super::game_data::paths(settings),
    };
    GameData::open(&paths, &[settings.text(key::FS_GAME), folder]).with_builtin(folder)
}

/// Finds files by name and content, or by name alone.
fn find_file(data: &Rc<GameData>) -> FindFile {
    let data = Rc::clone(data);
    Box::new(move |name, len, sum| {
        let is_it = |bytes: &[u8]| bytes.len() as u64 == len && checksum(bytes) == sum;
        let max = MAX_FILE_LEN as u64;
        data.read_wanted(name, len.min(max), is_it).or_else(|| data.read(name, max).ok())
    })
}

/// Reads bytes of archives by their folder and name.
fn read_pack(data: Rc<GameData>) -> ReadPack {
    Box::new(move |info, range| {
        let number = data.packs().iter().find(|pack| pack.info == *info)?.number;
        data.read_pack(number, range).ok()
    })
}
