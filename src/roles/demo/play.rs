//! Playback of a demo to clients (`fragd demo play`).

use fragd::{
    cli::{ExitStatus, PlayOptions},
    io,
    relay::{DemoSource, MatchSource},
};

use super::{super::relay, Demo, multiview};

/// Serves a demo to viewers until it is stopped.
pub(super) fn run(options: &PlayOptions) -> ExitStatus {
    if let Err(error) = io::logging::init_background(log::LevelFilter::Info) {
        eprintln!("fragd: log thread not started: {error}");
        return ExitStatus::Failed;
    }
    match play(options) {
        Ok(()) => ExitStatus::Done,
        Err(failure) => failure.report(),
    }
}

fn play(options: &PlayOptions) -> Result<(), relay::Failure> {
    let title = options.file.file_stem().unwrap_or_default().to_string_lossy();
    if multiview::is_recording(&options.file) {
        let bytes = multiview::read(&options.file)?;
        let source = MatchSource::new(&bytes, &title, options.end())?;
        log::info!("playing {}, every player's view", options.file.display());
        return relay::host(Box::new(source), &options.viewers, options.viewers.broadcast(None));
    }
    let demo = Demo::read(&options.file)?;
    let source = DemoSource::new(demo.protocol, &demo.bytes, &title, options.end())?;
    log::info!("playing {}", options.file.display());
    relay::host(Box::new(source), &options.viewers, options.viewers.broadcast(None))
}
