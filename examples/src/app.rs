//! A server app and a client app of the game, without a window.

use core::time::Duration;

use bevy::{
    ecs::schedule::SingleThreadedExecutor, prelude::*, state::app::StatesPlugin,
    transform::StaticTransformOptimizations,
};
use bevy_unlag::{net::ProtocolVersion, prelude::*};

use crate::{
    arena,
    armoury::Armoury,
    ledger::LedgerPlugin,
    rules::{self, NextPlayer, RulesPlugin, RulesProtocolPlugin},
    script::{Script, ScriptPlugin},
};

/// The time of one tick.
pub const TICK: Duration = Duration::from_nanos(15_625_000);

/// What differs from one measured server to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerOptions {
    /// Whether shots are judged in the past.
    pub rewind: RewindMode,
    /// How poses between snapshots are found, on both sides.
    pub interpolation: Interpolation,
    /// Whether to note down every move's result; for measuring only.
    pub trace: bool,
    /// The protocol to speak; 0 for our own.
    pub protocol: u32,
    /// What there is to fight with; clients must have the same.
    pub armoury: Armoury,
    /// The oldest view that is honoured; `None` for the suite's default.
    pub max_age: Option<Duration>,
    /// The time of one tick; `None` for [`TICK`]. Clients must have the same.
    pub tick: Option<Duration>,
}

/// What a headless app needs of Bevy.
pub fn headless() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, StatesPlugin));
    // For a dozen entities: what it saves is less than waking the threads that look for it.
    app.insert_resource(StaticTransformOptimizations::Disabled);
    app
}

/// The server's plugins and the game, on top of whatever Bevy plugins the app has.
pub fn add_server(app: &mut App, options: ServerOptions) {
    app.insert_resource(options.armoury.arsenal());
    app.add_plugins(UnlagServerPlugins { tick: options.tick.unwrap_or(TICK), ..default() });
    app.add_plugins((RulesProtocolPlugin, RulesPlugin));
    app.world_mut().resource_mut::<Sampler>().interpolation = options.interpolation;
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

/// The client's plugins and the game, on top of whatever Bevy plugins the app has.
pub fn add_client(app: &mut App, armoury: Armoury, interpolation: Interpolation, trace: bool) {
    app.insert_resource(armoury.arsenal());
    app.add_plugins(UnlagClientPlugins::default());
    app.add_plugins((RulesProtocolPlugin, LedgerPlugin));
    app.world_mut().resource_mut::<Sampler>().interpolation = interpolation;
    app.add_systems(Startup, arena::spawn).add_observer(
        move |added: On<Add, NetRole>, mut commands: Commands| {
            if trace {
                commands.entity(added.entity).insert(MoveTrace::default());
            }
        },
    );
}

/// A server without a window.
pub fn server(options: ServerOptions) -> App {
    let mut app = headless();
    add_server(&mut app, options);
    app
}

/// A client without a window whose player plays by a script.
pub fn scripted_client(seed: u64, armoury: Armoury, interpolation: Interpolation, trace: bool) -> App {
    let mut app = headless();
    add_client(&mut app, armoury, interpolation, trace);
    app.add_plugins((PlayerControlsPlugin::default(), ScriptPlugin)).insert_resource(Script::new(seed));
    app
}

/// Gives a server a player of its own, as a listen server has, who plays by a script.
pub fn add_scripted_host(app: &mut App, seed: u64) {
    add_host(app);
    app.add_plugins((PlayerControlsPlugin::default(), ScriptPlugin)).insert_resource(Script::new(seed));
}

/// Gives a server a player of its own; whoever calls it adds the controls.
pub fn add_host(app: &mut App) {
    app.add_plugins(LedgerPlugin)
        // The host wants to see the pawns that it decides about.
        .add_observer(|added: On<Add, NetRole>, mut commands: Commands| {
            commands.entity(added.entity).insert_if_new(DrawnPose::default());
        })
        .add_systems(
            Startup,
            |mut next: ResMut<NextPlayer>, arsenal: Res<Arsenal>, mut commands: Commands| {
                let (id, place) = next.welcome();
                let soldier = (spawn_host_soldier(id, place), Health::default(), Score::default());
                commands.spawn(soldier).insert(rules::everything(&arsenal));
            },
        );
}

/// Finishes an app that is stepped by hand. One thread runs its systems in one order, so that the
/// same seed gives the same run; with several apps on one machine it is the faster way, too.
pub fn finish(app: &mut App) {
    app.finish();
    app.cleanup();
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
}
