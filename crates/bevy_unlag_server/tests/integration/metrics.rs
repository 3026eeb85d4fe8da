//! Metrics over HTTP, and the files that name them.

use core::{net::SocketAddr, time::Duration};
use std::{
    collections::BTreeSet,
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    thread,
    time::Instant,
};

use bevy::{ecs::schedule::ScheduleLabel, prelude::*};
use bevy_unlag::{
    core::MoveSystems,
    guard::{GuardSystems, Kick, KickReason},
    link_conditioner::LinkPreset,
    prelude::*,
    weapons::WeaponSystems,
};
use bevy_unlag_server::{MetricsConfig, MetricsPlugin, ServerHealth, ServerState, WatchdogConfig};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use lightyear::prelude::server::ClientOf;
use serde_json::Value;

/// Time after which a test gives up waiting.
const PATIENCE: Duration = Duration::from_secs(20);

/// Metrics at any free port of this machine.
fn metrics() -> (MetricsPlugin, SocketAddr) {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let plugin = MetricsPlugin::bind(MetricsConfig { address }).expect("a free port");
    let address = plugin.address();
    (plugin, address)
}

/// Returns the status and the body of a page.
fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("a request is sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    let (head, body) = response.split_once("\r\n\r\n").expect("a header");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), body.to_owned())
}

/// The value of one sample.
fn value(text: &str, sample: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no sample {sample} in:\n{text}"))
}

/// Publishes the counters, which a change of state does at once, and returns their text.
fn text_of(game: &mut SteppedApps, address: SocketAddr, state: ServerState) -> String {
    *game.server.world_mut().resource_mut::<ServerState>() = state;
    let began = Instant::now();
    loop {
        game.run(Duration::from_millis(100));
        let (status, text) = get(address, "/metrics");
        assert_eq!(status, 200);
        if value(&text, &format!("bevy_unlag_server_state{{state=\"{state}\"}}")) > 0.0 {
            return text;
        }
        assert!(began.elapsed() < PATIENCE, "{text}");
    }
}

#[test]
fn match_is_counted_from_its_joins_to_a_kick() {
    let (plugin, address) = metrics();
    let mut server = headless_app();
    server.add_plugins((UnlagServerPlugins::default(), plugin)).add_observer(
        |joined: On<PlayerJoined>, mut commands: Commands| {
            commands.spawn((SoldierPawn, player_pawn(joined.link, joined.peer)));
        },
    );
    let mut game = SteppedApps::new(server);
    assert_eq!(get(address, "/readyz"), (503, "starting\n".to_owned()));
    for _ in 0..2 {
        let mut client = headless_app();
        client.add_plugins(UnlagClientPlugins::default());
        game.join(client, LinkPreset::find("Perfect").expect("a preset")).expect("a token");
    }
    game.run(Duration::from_secs(3));
    let text = text_of(&mut game, address, ServerState::Allocated);
    assert_eq!(get(address, "/readyz"), (200, "allocated\n".to_owned()));
    for (sample, expected) in [
        ("bevy_unlag_players", 2.0),
        ("bevy_unlag_joins_total", 2.0),
        ("bevy_unlag_leaves_total{reason=\"kicked\"}", 0.0),
        ("bevy_unlag_kicks_total{reason=\"Game\"}", 0.0),
        ("bevy_unlag_corrections_total{cause=\"terrain differs\"}", 0.0),
        ("bevy_unlag_shots_total", 0.0),
    ] {
        assert_eq!(value(&text, sample), expected, "{sample}");
    }
    for sample in [
        "bevy_unlag_moves_total",
        "bevy_unlag_packets_total",
        "bevy_unlag_received_bytes_total{class=\"moves\"}",
        "bevy_unlag_sent_bytes_total{class=\"move acks\"}",
        "bevy_unlag_sent_bytes_total{class=\"snapshots\"}",
        // Each player starts with one.
        "bevy_unlag_corrections_total{cause=\"start\"}",
        "bevy_unlag_set_seconds_sum{set=\"MoveSystems::Step\"}",
    ] {
        assert!(value(&text, sample) > 0.0, "{sample}");
    }
    // The server runs a tick in each frame, and all sections of it.
    let ticks = value(&text, "bevy_unlag_tick_seconds_count");
    assert!(ticks > 150.0, "{ticks}");
    assert_eq!(value(&text, "bevy_unlag_tick_seconds_bucket{le=\"+Inf\"}"), ticks);
    assert_eq!(value(&text, "bevy_unlag_set_seconds_count{set=\"WeaponSystems::Validate\"}"), ticks);

    let world = game.server.world_mut();
    let entity = world.query_filtered::<Entity, With<ClientOf>>().iter(world).next().expect("a player");
    world.trigger(Kick { entity, reason: KickReason::Game(7) });
    game.run(Duration::from_secs(2));
    let later = text_of(&mut game, address, ServerState::Ready);
    assert_eq!(value(&later, "bevy_unlag_kicks_total{reason=\"Game\"}"), 1.0);
    assert_eq!(value(&later, "bevy_unlag_leaves_total{reason=\"kicked\"}"), 1.0);
    assert_eq!(value(&later, "bevy_unlag_leaves_total{reason=\"left\"}"), 0.0);
    assert_eq!(value(&later, "bevy_unlag_players"), 1.0);
    // Counters of the pawns never fall.
    let moves = "bevy_unlag_moves_total";
    assert!(value(&later, moves) > value(&text, moves));
}

#[test]
fn stalled_app_still_answers_that_it_is_unhealthy() {
    let (plugin, address) = metrics();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, plugin));
    let health = app.world().resource::<ServerHealth>().clone();
    assert_eq!(get(address, "/healthz"), (200, "ok\n".to_owned()), "the control");
    app.insert_resource(WatchdogConfig { limit: Duration::from_millis(300) });
    app.update();
    let began = Instant::now();
    while health.is_healthy() {
        assert!(began.elapsed() < PATIENCE, "the watchdog sees no stall");
        thread::sleep(Duration::from_millis(10));
    }
    let stalled = "stalled in the time between two updates\n".to_owned();
    assert_eq!(get(address, "/healthz"), (503, stalled));
    assert_eq!(value(&get(address, "/metrics").1, "bevy_unlag_healthy"), 0.0);
}

/// Pages that a stalled tick served.
#[derive(Resource, Default)]
struct StalledPage(String);

/// Returns the page of a server's health while a system of this set stands still.
fn page_of_stall(schedule: impl ScheduleLabel, set: impl SystemSet) -> String {
    let (plugin, address) = metrics();
    let mut server = headless_app();
    let stand_still = move |health: Res<ServerHealth>, mut page: ResMut<StalledPage>| {
        let began = Instant::now();
        while page.0.is_empty() && health.is_healthy() && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(10));
        }
        if page.0.is_empty() {
            page.0 = get(address, "/healthz").1;
        }
    };
    server
        .add_plugins((UnlagServerPlugins::default(), plugin))
        .insert_resource(WatchdogConfig { limit: Duration::from_millis(300) })
        .init_resource::<StalledPage>()
        .add_systems(schedule, stand_still.in_set(set));
    let mut game = SteppedApps::new(server);
    game.run(Duration::from_millis(100));
    game.server.world().resource::<StalledPage>().0.clone()
}

#[test]
fn stall_is_named_by_the_system_set_that_is_running() {
    for (page, expected) in [
        (
            page_of_stall(PreUpdate, GuardSystems::Packets),
            "PreUpdate: GuardSystems::Packets after ConnectionSystems::Receive",
        ),
        (
            page_of_stall(FixedUpdate, MoveSystems::Step),
            "RunFixedMainLoop: MoveSystems::Step after MoveSystems::Extend",
        ),
        (
            page_of_stall(FixedPostUpdate, WeaponSystems::Validate),
            "RunFixedMainLoop: WeaponSystems::Validate after RewindSystems::UpdateTable",
        ),
        // Not measured by itself: it is between these two.
        (
            page_of_stall(FixedPostUpdate, WeaponSystems::AdvanceProjectiles),
            "RunFixedMainLoop: FixedLast after WeaponSystems::Validate",
        ),
    ] {
        assert_eq!(page, format!("stalled in {expected}\n"));
    }
}

#[test]
fn port_is_taken_until_the_app_is_dropped() {
    let (plugin, address) = metrics();
    let taken = MetricsPlugin::bind(MetricsConfig { address });
    assert!(taken.is_err(), "{taken:?}");
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, plugin));
    app.update();
    assert_eq!(get(address, "/nothing").0, 404);
    drop(app);
    let began = Instant::now();
    while let Err(error) = MetricsPlugin::bind(MetricsConfig { address }) {
        assert!(began.elapsed() < PATIENCE, "{error}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Metrics that only Linux has.
const LINUX_METRICS: [&str; 2] = ["process_resident_memory_bytes", "bevy_unlag_ingress_kernel_dropped_total"];

/// Names of the samples of an idle server, and of its metrics.
fn exported() -> (BTreeSet<String>, BTreeSet<String>) {
    let (plugin, address) = metrics();
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, plugin));
    let text = get(address, "/metrics").1;
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| line.split([' ', '{']).next().unwrap_or_default().to_owned();
    let metrics = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    (samples.map(sample).collect(), metrics.map(sample).collect())
}

/// The names in a text that look like a metric of a server.
fn named_metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("bevy_unlag_") || word.starts_with("process_")).collect()
}

/// Reads a file of the repository.
fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Calls `with` with each text of a key.
fn for_each_text<'a>(json: &'a Value, key: &str, with: &mut impl FnMut(&'a str)) {
    match json {
        Value::Object(object) => {
            for (name, value) in object {
                match value {
                    Value::String(text) if name == key => with(text.as_str()),
                    other => for_each_text(other, key, with),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| for_each_text(value, key, with)),
        _ => {}
    }
}

#[test]
fn dashboard_and_alerts_name_only_metrics_that_exist() {
    let (mut samples, _) = exported();
    for name in LINUX_METRICS {
        assert_eq!(samples.contains(name), cfg!(target_os = "linux"), "{name}");
        samples.insert(name.to_owned());
    }
    let dashboard = read("assets/grafana/bevy_unlag_server.json");
    let json: Value = serde_json::from_str(&dashboard).expect("JSON");
    let mut queries = Vec::new();
    for_each_text(&json, "expr", &mut |text| queries.push(text));
    assert!(queries.len() >= 20, "{} queries", queries.len());
    let panels = json["panels"].as_array().expect("panels");
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        let has_query = panel["targets"].as_array().is_some_and(|targets| !targets.is_empty());
        assert!(has_query, "no query: {}", panel["title"]);
    }
    for query in queries {
        assert!(!named_metrics(query).is_empty(), "no metric: {query}");
    }
    let alerts = read("assets/prometheus/bevy_unlag_server.rules.yml");
    let alerts: String = alerts.lines().filter(|line| line.trim_start().starts_with("expr:")).collect();
    let named = [named_metrics(&dashboard), named_metrics(&alerts)];
    assert!(named[0].len() > 20 && named[1].len() > 5, "{named:?}");
    for name in named.iter().flatten() {
        // Grafana's id of the dashboard and a prefix in a description are none of them.
        assert!(samples.contains(*name) || *name == "bevy_unlag_server", "{name} is not exported");
    }
}

/// Returns the names in the first column of a page's tables that begin so.
fn rows<'a>(page: &'a str, prefixes: &[&str]) -> BTreeSet<&'a str> {
    let is_word = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let names = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let names = names.map(|(name, _)| name).filter(is_word);
    names.filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix))).collect()
}

#[test]
fn handbook_has_each_metric_and_alert_and_no_other() {
    let handbook = read("book/src/operations/monitoring.md");
    let (_, mut metrics) = exported();
    metrics.extend(LINUX_METRICS.map(str::to_owned));
    let metrics: BTreeSet<_> = metrics.iter().map(String::as_str).collect();
    assert_eq!(rows(&handbook, &["bevy_unlag_", "process_"]), metrics);
    let rules = read("assets/prometheus/bevy_unlag_server.rules.yml");
    let alerts = rules.lines().filter_map(|line| line.trim_start().strip_prefix("- alert: "));
    assert_eq!(rows(&handbook, &["Unlag"]), alerts.collect::<BTreeSet<_>>());
}
