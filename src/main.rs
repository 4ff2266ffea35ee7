//! (temporary)
use fragd::{
    game::{Flight, Profile},
    io,
    server::Server,
    settings::Settings,
};

fn main() {
    let mut settings = Settings::default();
    let args: Vec<String> = std::env::args().skip(1).collect();
    for chunk in args.chunks(2) {
        settings.set(&chunk[0], &chunk[1]).unwrap();
    }
    io::logging::init(log::LevelFilter::Debug);
    let port = settings.int(fragd::settings::key::NET_PORT) as u16;
    let clock = io::Clock::start();
    let mut server =
        Server::new(settings, Box::new(Flight::new(&Profile::BASEOA)), io::random_bytes().unwrap());
    let sockets = io::Sockets::listen(&[io::Listen { port, ..io::Listen::default() }]).unwrap();
    let summary = io::run(
        &mut server,
        sockets,
        &clock,
        io::Options {
            signals: Some(io::Signals::install().unwrap()),
            console: io::Console::Stdin,
            ..io::Options::default()
        },
    );
    println!("{summary:?}");
}
