//! The admin command over its real socket, on a server with players on stepped time.

use core::time::Duration;
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use bevy::prelude::*;
use bevy_unlag::{
    guard::{KickReason, KickText, KickedByServer},
    link_conditioner::LinkPreset,
    prelude::*,
};
use bevy_unlag_server::{
    AdminAnswer, AdminCommand, AdminPlugin, AdminRequest, LifeCycleConfig, ServerLifeCyclePlugin,
    ServerState, send_admin_command,
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

/// Time after which a test gives up waiting.
const PATIENCE: Duration = Duration::from_secs(20);

/// Kicks that a client was told of.
#[derive(Resource, Default)]
struct Told(Vec<KickReason>);

/// A server with two players, and its admin file.
struct Site {
    game: SteppedApps,
    file: PathBuf,
}

impl Site {
    fn new(name: &str) -> Self {
        let file = std::env::temp_dir().join(format!("admin_{}_{name}", std::process::id()));
        let mut server = headless_app();
        server
            .add_plugins((UnlagServerPlugins::default(), ServerLifeCyclePlugin))
            .add_plugins(AdminPlugin::open(&file).expect("an admin file"))
            .add_systems(Update, answer_map)
            .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
                commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
            });
        let mut site = Self { game: SteppedApps::new(server), file };
        site.join();
        site.join();
        assert!(site.game.run_until(Duration::from_secs(5), |game| pawns(game) == 2), "two players");
        site
    }

    fn join(&mut self) {
        let mut client = headless_app();
        client.add_plugins(UnlagClientPlugins::default()).init_resource::<Told>().add_systems(
            Last,
            |mut kicked: MessageReader<KickedByServer>, mut told: ResMut<Told>| {
                told.0.extend(kicked.read().map(|kicked| kicked.0));
            },
        );
        self.game.join(client, LinkPreset::find("Perfect").expect("a preset")).expect("a token");
    }

    /// Runs the game until the other thread is done.
    fn run_beside<T: Send + 'static>(&mut self, other: impl FnOnce(&Path) -> T + Send + 'static) -> T {
        let file = self.file.clone();
        let thread = thread::spawn(move || other(&file));
        let began = Instant::now();
        while !thread.is_finished() {
            assert!(began.elapsed() < PATIENCE, "no answer");
            self.game.run(Duration::from_millis(16));
        }
        thread.join().expect("no panic")
    }

    fn command(&mut self, command: &'static str) -> Result<String, String> {
        self.run_beside(move |file| send_admin_command(file, command))
    }

    fn told(&self, client: usize) -> &[KickReason] {
        &self.game.clients[client].world().resource::<Told>().0
    }
}

/// A game with one map.
fn answer_map(mut requests: MessageReader<AdminRequest>, mut answers: MessageWriter<AdminAnswer>) {
    for AdminRequest { id, command } in requests.read() {
        if let AdminCommand::Map { name } = command {
            let result = if name == "arena" {
                Ok(format!("map {name}"))
            } else {
                Err(format!("there is no map {name}"))
            };
            answers.write(AdminAnswer { id: *id, result });
        }
    }
}

fn pawns(game: &mut SteppedApps) -> usize {
    let world = game.server.world_mut();
    world.query_filtered::<(), With<SoldierState>>().iter(world).count()
}

#[test]
fn operator_sees_players_and_the_kicked_one_gets_the_reason() {
    let mut site = Site::new("kick");
    let list = site.command("players").expect("a list");
    let ids: Vec<_> = list.lines().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    assert_eq!((ids.len(), ids.contains(&"client=1"), ids.contains(&"client=2")), (2, true, true), "{list}");
    assert!(list.contains(" address=127.0.0.1:"), "{list}");
    assert_eq!(site.command("kick 1 camping in the spawn"), Ok("kicked 1".to_owned()));
    site.game.run(Duration::from_secs(1));
    assert_eq!(site.told(0), [KickReason::Operator(KickText::new("camping in the spawn"))]);
    assert_eq!(site.told(1), []);
    let list = site.command("players").expect("a list");
    assert!(list.starts_with("client=2 ") && !list.contains('\n'), "{list}");
    assert!(site.command("kick 1").is_err_and(|error| error.contains("no player 1")));
}

#[test]
fn banned_player_is_kicked_with_the_duration_until_unbanned() {
    let mut site = Site::new("ban");
    let answer = site.command("ban 2 10");
    assert_eq!(answer, Ok("banned 2 for 10 min, kicked 1 of those inside".to_owned()));
    site.game.run(Duration::from_secs(1));
    assert_eq!(
        (site.told(0), site.told(1)),
        (&[][..], &[KickReason::Operator(KickText::new("banned for 10 min"))][..])
    );
    assert_eq!(site.command("unban 2"), Ok("2 may join again".to_owned()));
    assert_eq!(site.command("unban 2"), Err("2 is not banned".to_owned()));
    // Both players have this host.
    let answer = site.command("ban 127.0.0.1 1 closed");
    assert_eq!(answer, Ok("banned 127.0.0.1 for 1 min, kicked 1 of those inside".to_owned()));
}

#[test]
fn game_answers_its_commands_and_one_that_it_ignores_is_an_error() {
    let mut site = Site::new("game");
    assert_eq!(site.command("map arena"), Ok("map arena".to_owned()));
    assert_eq!(site.command("map moon"), Err("there is no map moon".to_owned()));
    assert!(site.command("say hello").is_err_and(|error| error.contains("does not know")));
    assert!(site.command("quit").is_err_and(|error| error.contains("kick ID")));
    assert_eq!(site.command("drain closed for today"), Ok("draining".to_owned()));
    let server = site.game.server.world();
    assert!(!server.resource::<ServerState>().is_running());
    assert_eq!(server.resource::<LifeCycleConfig>().reason, KickText::new("closed for today"));
    assert!(site.command("drain").is_err_and(|error| error.contains("draining already")));
}

#[test]
fn peer_without_the_secret_commands_nothing_and_locks_out_no_operator() {
    let mut site = Site::new("secret");
    let answer = site.run_beside(|file| {
        let text = fs::read_to_string(file).expect("the file");
        let address = text.lines().nth(1).expect("an address").to_owned();
        // More than the server keeps open.
        let _silent: Vec<_> = (0..40).map(|_| TcpStream::connect(&address).expect("a connection")).collect();
        let mut stream = TcpStream::connect(&address).expect("a connection");
        let secret = "0".repeat(64);
        writeln!(stream, "{secret} kick 1 hello").expect("room");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        (answer, send_admin_command(file, "kick 2"))
    });
    assert!(answer.0.starts_with("error\nthe secret is not"), "{answer:?}");
    assert_eq!(answer.1, Ok("kicked 2".to_owned()));
    site.game.run(Duration::from_secs(1));
    assert_eq!((site.told(0), site.told(1).len()), (&[][..], 1));
}

#[test]
fn error_of_the_tool_says_what_is_wrong_with_the_file() {
    let site = Site::new("gone");
    let file = site.file.clone();
    let text = fs::read_to_string(&file).expect("the file");
    drop(site);
    let error = send_admin_command(&file, "players").expect_err("no server");
    assert!(error.contains("cannot read the admin file") && error.contains("--admin"), "{error}");
    // As after a crash.
    fs::write(&file, text).expect("a file");
    let error = send_admin_command(&file, "players").expect_err("no server");
    assert!(error.contains("has stopped"), "{error}");
    fs::write(&file, "a key").expect("a file");
    let error = send_admin_command(&file, "players").expect_err("another file");
    assert!(error.contains("is no admin file"), "{error}");
    fs::remove_file(&file).expect("it goes");
}
