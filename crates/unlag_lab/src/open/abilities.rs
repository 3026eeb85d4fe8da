//! Uses of an ability, jumps and landings, on the screens of the owner and of a bystander and on the server.

use bevy_unlag::{
    CharacterPawn, Characters, SoldierWith,
    movement::{
        MoveCue,
        abilities::{Dash, DashConfig, DashCue},
    },
    net::{MessageRules, PawnEvent},
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use super::{join, level};
use crate::prelude::*;

type Dasher = SoldierWith<Dash>;

/// Ticks between two uses.
const PERIOD: u32 = 28;

/// Something that an app shows once.
#[derive(Wire, Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    Dash,
    Cue(MoveCue),
}

/// Effects of the first pawn that an app has shown, with their ticks.
#[derive(Resource, Default)]
struct DisplayedEvents {
    effects: Vec<(Tick, Effect)>,
    /// The control: effects that the server has sent to all in a message of the game.
    sent_by_server: Vec<Effect>,
}

impl DisplayedEvents {
    /// Ticks in which one kind of effect was shown.
    fn ticks(&self, is_dash: bool) -> Vec<(Tick, Effect)> {
        self.effects.iter().filter(|(_, effect)| (*effect == Effect::Dash) == is_dash).copied().collect()
    }

    fn sent_by_server(&self, is_dash: bool) -> usize {
        self.sent_by_server.iter().filter(|effect| (**effect == Effect::Dash) == is_dash).count()
    }
}

fn game(app: &mut App) {
    app.insert_resource(DashConfig { cooldown: 0.1, ..*app.world().resource::<DashConfig>() })
        .add_game_message::<Effect>(MessageRules::to_everyone().unreliable())
        .init_resource::<DisplayedEvents>()
        .add_systems(Startup, level)
        .add_systems(Last, record);
}

fn record(
    mut dashes: MessageReader<PawnEvent<DashCue>>,
    mut cues: MessageReader<PawnEvent<MoveCue>>,
    mut messages: MessageReader<Received<Effect>>,
    pawns: Query<&NetId>,
    mut displayed: ResMut<DisplayedEvents>,
) {
    let of_first = |pawn: Entity| pawns.get(pawn).is_ok_and(|id| id.0 == 1);
    let dashes = dashes.read().filter(|dash| of_first(dash.pawn)).map(|dash| (dash.tick, Effect::Dash));
    displayed.effects.extend(dashes);
    let cues = cues.read().filter(|cue| of_first(cue.pawn)).map(|cue| (cue.tick, Effect::Cue(cue.event)));
    displayed.effects.extend(cues);
    displayed.sent_by_server.extend(messages.read().map(|received| received.message));
}

/// The control, on the server: sends each effect to all clients, as the owner's machine does by itself.
fn tell(displayed: Res<DisplayedEvents>, mut outbox: Outbox<Effect>, mut count: Local<usize>) {
    for (_, effect) in displayed.effects.iter().skip(*count) {
        outbox.send(effect);
    }
    *count = displayed.effects.len();
}

fn server() -> App {
    let mut server = headless_app();
    let characters = Characters::of::<Dasher>();
    server
        .add_plugins((UnlagServerPlugins { characters, ..default() }, game))
        .insert_resource(PredictionDebug { force_corrections: 0.05, ..default() })
        .add_systems(Update, tell)
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

/// Effects that were shown more than once, and those that some machine has not shown.
struct Errors {
    double: usize,
    lost: usize,
    expected: usize,
}

/// Compares what the server, the owner and the bystander have shown.
fn errors(shown: &[Vec<(Tick, Effect)>]) -> Errors {
    // A tick of the bystander is one of the server, which may run several moves in it.
    let distinct = |shown: &[(Tick, Effect)]| {
        shown.iter().enumerate().filter(|(index, effect)| !shown[..*index].contains(effect)).count()
    };
    let expected = shown.iter().map(|shown| distinct(shown)).max().unwrap_or(0);
    Errors {
        double: shown.iter().map(|shown| shown.len() - distinct(shown)).sum(),
        lost: shown.iter().map(|shown| expected - distinct(shown)).sum(),
        expected,
    }
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let uses = options.extent(100, 1_000);
    let mut game = SteppedApps::new(server());
    for index in 0..2 {
        join(&mut game, client(), options.seed.wrapping_add(index), 150, 0.1)?;
        // The first pawn belongs to the player that dashes.
        game.run(Duration::from_secs(4));
    }
    // The landing after the spawn was before the bystander had joined.
    game.apps_mut()
        .for_each(|app| *app.world_mut().resource_mut::<DisplayedEvents>() = DisplayedEvents::default());
    game.clients[0].world_mut().resource_mut::<Acts>().0 = true;
    game.run(TICK * PERIOD * uses);
    // The player stops, and the last messages arrive.
    game.clients[0].world_mut().resource_mut::<Acts>().0 = false;
    game.run(Duration::from_secs(6));
    let apps: Vec<&DisplayedEvents> =
        game.apps_mut().map(|app| app.world().resource::<DisplayedEvents>()).collect();
    for (is_dash, [double_key, lost_key], what) in [
        (true, ["ability_double_effects", "ability_lost_effects"], "uses"),
        (false, ["events_doubled", "events_lost"], "jumps and landings"),
    ] {
        let shown: Vec<_> = apps.iter().map(|app| app.ticks(is_dash)).collect();
        let Errors { double, lost, expected } = errors(&shown);
        if shown[0].len() < uses as usize / 2 {
            return Err(format!("only {} of {uses} {what} reached the server", shown[0].len()));
        }
        figures.add_noted(double_key, double as f64, format!("{expected} {what}"))?;
        figures.add(lost_key, lost as f64)?;
        // The owner has already shown the events that the server sends to all, and the bystander lacks the lost ones.
        let [owner, bystander] = [1, 2].map(|index| apps[index].sent_by_server(is_dash));
        figures.add(format!("control_{double_key}"), owner as f64)?;
        figures.add(format!("control_{lost_key}"), shown[0].len().saturating_sub(bystander) as f64)?;
    }
    Ok(())
}
