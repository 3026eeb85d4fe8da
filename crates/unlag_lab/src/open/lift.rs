//! Rider of a lift that players call by a button: the owner's error, while it rides and at rest.

use bevy::ecs::{schedule::IntoScheduleConfigs, system::ScheduleSystem};
use bevy_unlag::net::MessageRules;
use bevy_unlag_testkit::{SteppedApps, TracePlugin, headless_app};

use super::{join, level};
use crate::prelude::*;

const RIDER: NetId = NetId(1);
const LIFT: BaseId = BaseId(1);
/// Heights of the stops, in metres.
const STOPS: [f32; 3] = [0.1, 4.1, 9.1];
/// Mean speed of the lift, in metres per second.
const SPEED: f32 = 3.0;

/// Button of a stop.
#[derive(Wire, Clone, Copy, PartialEq, Debug)]
struct CallLift {
    #[wire(range = 0..=2)]
    stop: u8,
}

/// The button that the player presses in the next frame.
#[derive(Resource, Default)]
struct Button(Option<u8>);

fn game(app: &mut App) {
    app.add_game_message::<CallLift>(MessageRules::to_server()).add_systems(Startup, level);
}

/// The lift, which moves on command of the server.
fn called_lift(mut commands: Commands) {
    let lift = MovementBase::scheduled(LIFT, Isometry3d::from_xyz(0.0, STOPS[0], 0.0));
    commands.spawn((lift, Collider::cuboid(2.0, 0.1, 2.0)));
}

/// The control: a lift that hears of no command, as if it were a part of the level.
fn deaf_lift(mut commands: Commands) {
    let track = BaseTrack::Still(Isometry3d::from_xyz(0.0, STOPS[0], 0.0));
    commands.spawn((MovementBase { id: LIFT, track }, Collider::cuboid(2.0, 0.1, 2.0)));
}

fn server() -> App {
    let mut server = headless_app();
    server
        .add_plugins((UnlagServerPlugins::default(), TracePlugin, game))
        .add_systems(Startup, called_lift)
        .add_systems(FixedUpdate, obey.before(MoveSystems::Reconcile))
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            let place = Transform::from_xyz(0.0, 0.3, 0.0);
            commands.spawn((SoldierPawn, RIDER, place, player_pawn(joined.link, joined.peer)));
        });
    server
}

fn obey(mut calls: MessageReader<Received<CallLift>>, mut lifts: Query<&mut MovementBase>) {
    for call in calls.read() {
        let stop = STOPS[usize::from(call.message.stop)];
        lifts.iter_mut().for_each(|mut lift| lift.move_to(Isometry3d::from_xyz(0.0, stop, 0.0), SPEED));
    }
}

fn client<M>(lift: impl IntoScheduleConfigs<ScheduleSystem, M>) -> App {
    let mut client = headless_app();
    client
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), TracePlugin, game))
        .init_resource::<Button>()
        .add_systems(Startup, lift)
        .add_systems(Update, press);
    client
}

fn press(mut button: ResMut<Button>, mut outbox: Outbox<CallLift>) {
    if let Some(stop) = button.0.take() {
        outbox.send(&CallLift { stop });
    }
}

/// Result of a ride.
struct Ride {
    /// Distances between the owner's and the server's result of each move, in metres.
    errors: Vec<f32>,
    /// Moves of the owner.
    moves: Vec<(Tick, Vec3)>,
    corrections: u64,
}

impl Ride {
    fn largest_error_cm(&self) -> f64 {
        f64::from(self.errors.iter().copied().fold(0.0, f32::max)) * 100.0
    }
}

fn ride(client: App, seed: u64, calls: u32) -> Result<Ride, String> {
    let mut game = SteppedApps::new(server());
    join(&mut game, client, seed, 75, 0.05)?;
    game.run(Duration::from_secs(3));
    let mut rng = SmallRng::seed_from_u64(seed);
    for _ in 0..calls {
        game.clients[0].world_mut().resource_mut::<Button>().0 = Some(rng.random_range(0..3));
        // Some calls interrupt a ride, others find the lift at rest.
        game.run(Duration::from_millis(rng.random_range(700..5_000)));
    }
    game.run(Duration::from_secs(4));
    let SteppedApps { server, clients, .. } = &mut game;
    let (errors, moves) = owner_errors(server, &mut clients[0])?;
    if errors.len() < moves.len() / 2 {
        let (ran, made) = (errors.len(), moves.len());
        return Err(format!("only {ran} of {made} moves of the rider reached the server"));
    }
    let world = clients[0].world_mut();
    let corrections = world.query::<&PredictionStats>().iter(world).map(|own| own.corrections).sum();
    Ok(Ride { errors, moves, corrections })
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let calls = options.extent(8u32, 60);
    let heard = ride(client(called_lift), options.seed, calls)?;
    let ridden: f32 = heard.moves.windows(2).map(|pair| (pair[1].1.y - pair[0].1.y).abs()).sum();
    if ridden < calls as f32 {
        return Err(format!("the rider has ridden {ridden} m only"));
    }
    let note = format!("{} moves over {ridden:.0} m", heard.errors.len());
    figures.add_noted("button_lift_owner_error_cm", heard.largest_error_cm(), note)?;
    figures.add("button_lift_corrections", heard.corrections as f64)?;
    let unheard = ride(client(deaf_lift), options.seed, 8)?;
    let note = format!("{} corrections", unheard.corrections);
    figures.add_noted("control_button_lift_owner_error_cm", unheard.largest_error_cm(), note)
}
