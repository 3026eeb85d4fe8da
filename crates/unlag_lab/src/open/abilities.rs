//! Uses of an ability and jumps, on the screens of the owner and of a bystander and on the server.

use bevy_unlag::{
    CharacterPawn, Characters, SoldierWith,
    movement::{
        MoveCue,
        abilities::{Dash, DashConfig, DashEvent},
    },
    net::{PawnEvent, SharePawnEvents},
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use super::{join, level};
use crate::prelude::*;

type Dasher = SoldierWith<Dash>;

/// Ticks between two uses.
const PERIOD: u32 = 28;

/// Events that an app has shown of the first pawn, with their ticks.
#[derive(Resource, Default)]
struct Shown {
    dashes: Vec<Tick>,
    cues: Vec<(Tick, MoveCue)>,
}

fn game(app: &mut App) {
    app.insert_resource(DashConfig { cooldown: 0.1, ..*app.world().resource::<DashConfig>() })
        .share_pawn_events::<Dasher, DashEvent>(|event| match event {
            ExtendedEvent::Body(ExtendedEvent::Extension(event @ DashEvent::Started { .. })) => Some(*event),
            _ => None,
        })
        .init_resource::<Shown>()
        .add_systems(Startup, level)
        .add_systems(Last, record);
}

fn record(
    mut dashes: MessageReader<PawnEvent<DashEvent>>,
    mut cues: MessageReader<PawnEvent<MoveCue>>,
    pawns: Query<&NetId>,
    mut shown: ResMut<Shown>,
) {
    let of_first = |pawn: Entity| pawns.get(pawn).is_ok_and(|id| id.0 == 1);
    shown.dashes.extend(dashes.read().filter(|dash| of_first(dash.pawn)).map(|dash| dash.tick));
    shown.cues.extend(cues.read().filter(|cue| of_first(cue.pawn)).map(|cue| (cue.tick, cue.event)));
}

fn server() -> App {
    let mut server = headless_app();
    let characters = Characters::of::<Dasher>();
    server
        .add_plugins((UnlagServerPlugins { characters, ..default() }, game))
        .insert_resource(PredictionDebug { force_corrections: 0.05, ..default() })
        .add_observer(|joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            let place = Transform::from_xyz(f32::from(*players) * 6.0, 0.1, 0.0);
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((CharacterPawn::<Dasher>::default(), NetId(*players), place, owner));
        });
    server
}

/// Whether the player of a client jumps and dashes.
#[derive(Resource, Default)]
struct Acts(bool);

fn client() -> App {
    let mut client = headless_app();
    let characters = Characters::of::<Dasher>();
    client
        .add_plugins((UnlagClientPlugins { characters, ..default() }, PlayerControlsPlugin::default(), game))
        .init_resource::<Acts>()
        .add_systems(
            FixedUpdate,
            (|tick: Res<CurrentTick>, acts: Res<Acts>, mut own: Query<&mut MoveInput<Dasher>>| {
                let phase = tick.0.0 % PERIOD;
                for mut input in &mut own {
                    // A circle of short dashes, with a jump before each.
                    input.0.body.body.set_look(f64::from(tick.0.0 / PERIOD) * 0.7, 0.0);
                    input.0.body.body.jump = acts.0 && phase < 2;
                    input.0.body.extension.pressed = acts.0 && (8..10).contains(&phase);
                }
            })
            .after(MoveSystems::Sample)
            .before(MoveSystems::Step),
        );
    client
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let uses = options.extent(100, 1_000);
    let mut game = SteppedApps::new(server());
    for index in 0..2 {
        join(&mut game, client(), options.seed.wrapping_add(index), 150, 0.1)?;
        // The first pawn belongs to the player that dashes.
        game.run(Duration::from_secs(4));
    }
    game.clients[0].world_mut().resource_mut::<Acts>().0 = true;
    game.run(TICK * PERIOD * uses);
    // The player stops, and what was sent last arrives.
    let server_dashes = game.server.world().resource::<Shown>().dashes.len();
    game.power_off(0);
    game.run(Duration::from_secs(6));
    let server = game.server.world().resource::<Shown>();
    if server_dashes < uses as usize / 2 {
        return Err(format!("only {server_dashes} of {uses} uses reached the server"));
    }
    let [owner, bystander] = [0, 1].map(|index| game.clients[index].world().resource::<Shown>());
    let different = |ticks: &[Tick]| ticks.iter().collect::<std::collections::HashSet<_>>().len();
    // The owner's last uses were still on their way when its machine was switched off.
    let last = server.dashes.iter().copied().reduce(|a, b| if b.is_newer_than(a) { b } else { a });
    let owned: Vec<_> = owner
        .dashes
        .iter()
        .copied()
        .filter(|tick| last.is_some_and(|last| !tick.is_newer_than(last)))
        .collect();
    let expected = different(&server.dashes).max(different(&owned));
    let effects = [&server.dashes, &owned, &bystander.dashes];
    let double: usize = effects.iter().map(|shown| shown.len() - different(shown)).sum();
    let lost: usize = effects.iter().map(|shown| expected.saturating_sub(different(shown))).sum();
    figures.add_noted("ability_double_effects", double as f64, format!("{expected} uses"))?;
    figures.add("ability_lost_effects", lost as f64)?;
    let jumps = |shown: &Shown| -> Vec<Tick> {
        shown.cues.iter().filter(|(_, cue)| *cue == MoveCue::Jumped).map(|(tick, _)| *tick).collect()
    };
    let doubled: usize =
        [server, owner, bystander].map(jumps).iter().map(|ticks| ticks.len() - different(ticks)).sum();
    figures.add("events_doubled", doubled as f64)
}
