//! Server and client apps of the shooter, without a window.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    Character,
    core::{Interpolation, PoseSampler},
    guard::LogConfig,
    net::{FastClockRule, InterestPlugin, ProtocolVersion, ReplicatedPawn, SessionConfig},
    prediction::{HostPawn, MoveTrace},
    prelude::*,
    rewind::RewindMode,
};
use bevy_unlag_testkit::headless_app;

use crate::{
    arena,
    hero::{self, Hero},
    karts::{self, characters},
    logs::ServerLogs,
    rules::{self, NextPlayer},
    scripted_player::{self, ScriptedPlayer},
    shot_stats,
    slow_motion::SlowMotion,
    weapon_set::WeaponSet,
};

/// Time of one tick: 1/64 s.
pub const TICK: Duration = Duration::from_nanos(15_625_000);

/// Options by which the matches of tests and measurements differ. Clients read those that they must share.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerOptions {
    /// Whether the server rewinds targets to the shooter's view time (lag compensation).
    pub rewind: RewindMode,
    /// Interpolation of poses between snapshots, on server and clients alike.
    pub interpolation: Interpolation,
    /// Whether to record the result of every move; for measurements only.
    pub trace: bool,
    /// Protocol version to announce; 0 for the default.
    pub protocol: u32,
    /// Weapons of the game; clients must have the same.
    pub weapon_set: WeaponSet,
    /// Maximum age of a view that the server honours; `None` for the suite's default.
    pub max_age: Option<Duration>,
    /// Tick and snapshot rate. Default: 64 ticks per second. Clients must have the same.
    pub rate: SimulationRate,
    /// Whether players are [`Hero`]es, with a dash and a teleport. Default: [`Soldier`]s.
    pub heroes: bool,
    /// Whether there are karts in the arena, for heroes.
    pub karts: bool,
    /// Whether the server conceals pawns that a player cannot see.
    pub interest: bool,
    /// Reaction of the server to clients whose clock runs too fast.
    pub fast_clocks: FastClockRule,
    /// Log settings of the server.
    pub logs: ServerLogs,
    /// Slow motion of server and clients alike; `None` for real time.
    pub slow_motion: Option<SlowMotion>,
}

impl ServerOptions {
    /// Returns the options of the game that people play.
    #[must_use]
    pub fn game(rewind: RewindMode) -> Self {
        Self { rewind, weapon_set: WeaponSet::All, heroes: true, karts: true, ..default() }
    }
}

/// Adds the server's plugins and the game. The app must already have its Bevy plugins.
pub fn add_server(app: &mut App, options: ServerOptions) {
    if let Some(slow_motion) = options.slow_motion {
        app.add_plugins(slow_motion);
    }
    app.insert_resource(options.weapon_set.arsenal());
    app.add_plugins(UnlagServerPlugins { rate: options.rate, characters: characters() });
    app.add_plugins(rules::protocol);
    if options.heroes {
        app.add_plugins((rules::plugin::<Hero>, hero::void));
    } else {
        app.add_plugins(rules::plugin::<Soldier>);
    }
    if options.karts {
        app.add_plugins(karts::plugin);
    }
    if options.interest {
        app.add_plugins(InterestPlugin::default());
    }
    app.world_mut().resource_mut::<PoseSampler>().interpolation = options.interpolation;
    app.world_mut().resource_mut::<SessionConfig>().fast_clocks = options.fast_clocks;
    app.world_mut().resource_mut::<LogConfig>().addresses = !options.logs.hide_addresses;
    if options.protocol != 0 {
        app.insert_resource(ProtocolVersion(options.protocol));
    }
    let limits = RewindLimits { mode: options.rewind, ..default() };
    app.insert_resource(RewindLimits { max_age: options.max_age.unwrap_or(limits.max_age), ..limits })
        .add_systems(Startup, arena::spawn);
    if options.trace {
        app.add_observer(|added: On<Add, NetId>, mut commands: Commands| {
            commands.entity(added.entity).insert(MoveTrace::default());
        });
    }
}

/// Adds the client's plugins and the game, for a server with these options. The app must already have its
/// Bevy plugins.
pub fn add_client(app: &mut App, options: ServerOptions) {
    if let Some(slow_motion) = options.slow_motion {
        app.add_plugins(slow_motion);
    }
    app.insert_resource(options.weapon_set.arsenal());
    app.add_plugins(UnlagClientPlugins { rate: options.rate, characters: characters() });
    app.add_plugins((rules::protocol, shot_stats::plugin));
    app.world_mut().resource_mut::<PoseSampler>().interpolation = options.interpolation;
    app.add_systems(Startup, arena::spawn).add_observer(
        move |added: On<Add, NetRole>, mut commands: Commands| {
            if options.trace {
                commands.entity(added.entity).insert(MoveTrace::default());
            }
        },
    );
}

/// Creates a server without a window.
pub fn server(options: ServerOptions) -> App {
    let mut app = headless_app();
    add_server(&mut app, options);
    app
}

/// Creates a client without a window, played by a script, for a server with these options.
pub fn scripted_client(seed: u64, options: ServerOptions) -> App {
    let mut app = headless_app();
    add_client(&mut app, options);
    add_script(&mut app, seed);
    app
}

fn add_script(app: &mut App, seed: u64) {
    app.add_plugins((PlayerControlsPlugin::default(), scripted_player::plugin))
        .insert_resource(ScriptedPlayer::new(seed));
}

/// Gives a server a scripted player of its own, as a listen server host has.
pub fn add_scripted_host(app: &mut App, seed: u64) {
    add_host::<Soldier>(app);
    add_script(app, seed);
}

/// Gives a server a player of its own, with a pawn of the model `M`. The caller adds the controls.
pub fn add_host<M: Character>(app: &mut App) {
    app.add_plugins(shot_stats::plugin)
        // The host draws the pawns that it is the authority of.
        .add_observer(|added: On<Add, NetRole>, mut commands: Commands| {
            commands.entity(added.entity).insert_if_new(DrawnPose::default());
        })
        .add_systems(
            Startup,
            |mut next: ResMut<NextPlayer>, arsenal: Res<Arsenal>, mut commands: Commands| {
                let (id, place) = next.allocate();
                let soldier = (
                    (ReplicatedPawn, HostPawn::<M>::default()),
                    id,
                    Transform::from_translation(place),
                    Health::default(),
                    PlayerScore::default(),
                );
                commands.spawn(soldier).insert(rules::full_loadout(&arsenal));
            },
        );
}
