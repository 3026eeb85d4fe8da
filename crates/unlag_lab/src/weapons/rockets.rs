//! Rockets that a bystander may want to dodge: where its screen draws them, and where the server has them when it runs
//! the move that this screen shows.

use bevy_unlag::prediction::MoveTrace;
use bevy_unlag_testkit::{SteppedApps, headless_app};

use crate::prelude::*;

/// Round trips, in milliseconds.
const ROUND_TRIPS: [u64; 5] = [50, 100, 150, 200, 250];
/// Speed of the rocket, in metres per second.
const SPEED: f32 = 26.0;
/// Places of the shooter and the bystander: the rocket passes at 1.5 m.
const PLACES: [Vec3; 2] = [Vec3::ZERO, Vec3::new(1.5, 0.0, -30.0)];
/// Distance from the bystander within which the rocket counts, in metres.
const NEAR: f32 = 3.0;

fn rocket() -> Projectile {
    Projectile { speed: SPEED, radius: 0.05, gravity: 0.0, life: 3.0, bounce: None, splash: None }
}

fn level(app: &mut App) {
    let weapon =
        Weapon { shot: Shot::Projectile(rocket()), mode: FireMode::Semi, interval: 1.0, ..Weapon::rifle() };
    match Arsenal::new(vec![weapon]) {
        Ok(arsenal) => drop(app.insert_resource(arsenal)),
        Err(error) => error!("{error}"),
    }
    app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    });
}

/// Launches, and the server's tick in which each move of the bystander ran.
#[derive(Resource, Default)]
struct Truth {
    launches: Vec<ProjectileLaunch>,
    runs: HashMap<Tick, Tick>,
}

fn note_truth(
    tick: Res<CurrentTick>,
    mut launches: MessageReader<ProjectileLaunch>,
    pawns: Query<(&NetId, &MoveTrace)>,
    mut truth: ResMut<Truth>,
) {
    truth.launches.extend(launches.read());
    for (_, trace) in pawns.iter().filter(|(id, _)| id.0 == 2) {
        if let Some((run, _)) = trace.0.last() {
            truth.runs.entry(*run).or_insert(tick.0);
        }
    }
}

/// A rocket as the bystander's screen drew it.
struct DrawnRocket {
    /// Moment of the own pawn on the screen.
    now: ViewTime,
    shot: Tick,
    position: Vec3,
    /// Position of the bystander.
    own: Vec3,
    /// Seconds since the frame before.
    seconds: f32,
}

#[derive(Resource, Default)]
struct Drawn(Vec<DrawnRocket>);

fn note_drawn(
    (tick, fixed, time): (Res<CurrentTick>, Res<Time<Fixed>>, Res<Time>),
    flying: Query<&DrawnProjectile>,
    own: Query<&Transform, With<LocalControl>>,
    mut drawn: ResMut<Drawn>,
) {
    let (now, seconds) = (tick.frame_time(&fixed), time.delta_secs());
    let Ok(own) = own.single().map(|own| own.translation) else { return };
    drawn.0.extend(flying.iter().map(|rocket| DrawnRocket {
        now,
        shot: rocket.shot,
        position: rocket.position,
        own,
        seconds,
    }));
}

/// Runs towards the shooter and back, two metres each way.
fn dodge(tick: Res<CurrentTick>, mut own: Query<&mut MoveInput<Soldier>, With<LocalControl>>) {
    let way = if (tick.0.0 / 24).is_multiple_of(2) { Vec2::Y } else { Vec2::NEG_Y };
    own.iter_mut().for_each(|mut input| input.0.body.set_axes(way));
}

/// Errors in centimetres, and the largest drawn speed relative to the rocket's.
struct Dodged {
    errors: Vec<f64>,
    fastest: f64,
}

impl Dodged {
    /// Returns the largest error, or NaN if no rocket was near.
    fn largest_error(&self) -> f64 {
        self.errors.iter().copied().fold(f64::NAN, f64::max)
    }
}

/// Plays over a link. If it loses packets, the bystander moves.
fn play(link: LinkConditions, others: ProjectileTime, shots: usize, seed: u64) -> Result<Dodged, String> {
    let mut server = headless_app();
    server
        .add_plugins((UnlagServerPlugins::default(), level))
        .init_resource::<Truth>()
        .add_systems(FixedLast, note_truth);
    server.add_observer(|joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
        let place = Transform::from_translation(PLACES[usize::from(*players).min(1)]);
        *players += 1;
        let owner = player_pawn(joined.link, joined.peer);
        commands.spawn((SoldierPawn, NetId(*players), place, MoveTrace::default(), owner));
    });
    let mut game = SteppedApps::new(server);
    for index in 0..2 {
        let mut client = headless_app();
        client
            .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), level))
            .insert_resource(ProjectileDisplay { others, ..default() })
            .init_resource::<Drawn>()
            .add_systems(Last, note_drawn);
        if index == 1 && link.loss > 0.0 {
            client.add_systems(FixedUpdate, dodge.after(MoveSystems::Sample).before(MoveSystems::Extend));
        }
        let sim = NetSim::new(seed + index).with(link);
        game.join_over(client, sim).map_err(|e| format!("a player cannot join: {e}"))?;
        game.run(Duration::from_secs(3));
    }
    game.run(Duration::from_secs(4));
    for shot in 0..shots {
        for (held, time) in [(true, 50), (false, 2_000 + 7 * (shot as u64 % 5))] {
            let world = game.clients[0].world_mut();
            let mut own = world.query_filtered::<&mut WeaponControls, With<LocalControl>>();
            own.iter_mut(world).for_each(|mut trigger| trigger.set_fire(held));
            game.run(Duration::from_millis(time));
        }
    }
    compare(&game, shots)
}

fn compare(game: &SteppedApps, shots: usize) -> Result<Dodged, String> {
    let truth = game.server.world().resource::<Truth>();
    let drawn = &game.clients[1].world().resource::<Drawn>().0;
    let tick_seconds = TICK.as_secs_f32();
    let mut dodged = Dodged { errors: Vec::new(), fastest: 0.0 };
    if truth.launches.len() < shots {
        return Err(format!("only {} of {shots} rockets were launched", truth.launches.len()));
    }
    for launch in &truth.launches {
        // Without gravity it flies straight ahead.
        let (from, velocity) = Trajectory::new(launch, &rocket(), tick_seconds).at(0.0);
        let mut last: Option<Vec3> = None;
        for rocket in drawn.iter().filter(|rocket| rocket.shot == launch.shot) {
            let DrawnRocket { now, position, own, seconds, .. } = *rocket;
            if let Some(last) = last.filter(|_| seconds > 1e-4) {
                let speed = position.distance(last) / seconds / SPEED;
                dodged.fastest = dodged.fastest.max(f64::from(speed));
            }
            last = Some(position);
            let Some(run) = truth.runs.get(&now.tick) else { continue };
            let server_time = ViewTime { tick: *run, fraction: now.fraction };
            let age = server_time.since(launch.time) as f64 / SUB_TICKS as f64;
            let there = from + velocity * (age as f32 * tick_seconds);
            if age > 0.0 && there.distance(own + Vec3::Y) < NEAR {
                dodged.errors.push(f64::from(there.distance(position)) * 100.0);
            }
        }
    }
    Ok(dodged)
}

/// Returns conditions of a round trip and a jitter in milliseconds, and a share of lost packets.
fn link(round_trip: u64, jitter: u64, loss: f32) -> LinkConditions {
    LinkConditions {
        latency: Duration::from_millis(round_trip / 2),
        jitter: Duration::from_millis(jitter),
        loss,
        ..LinkConditions::PERFECT
    }
}

/// Adds how far drawn rockets are from the server's, drawn at the server's present and on the screen's time.
///
/// # Errors
/// Returns a message if a player cannot join.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let shots = options.extent(4, 40);
    let modes = [("present", ProjectileTime::ServerPresent), ("screen", ProjectileTime::Screen)];
    let matches: Vec<_> =
        modes.iter().flat_map(|mode| ROUND_TRIPS.map(|round_trip| (*mode, round_trip))).collect();
    let played = in_parallel(
        &matches,
        |((_, others), round_trip)| play(link(*round_trip, 3, 0.0), *others, shots, options.seed),
        |_| Ok(()),
    )?;
    let mut worst = [0.0f64; 2];
    let mut frames = [0_u64; 2];
    let mut fastest = 0.0f64;
    for (((name, others), round_trip), dodged) in matches.iter().zip(&played) {
        let most = dodged.largest_error();
        let near = dodged.errors.len() as u64;
        let note = format!("frames near the bystander of {shots} rockets");
        figures.add_counted(format!("rocket_error_cm_{name}_{round_trip}ms"), most, near, note)?;
        let present = *others == ProjectileTime::ServerPresent;
        let mode = usize::from(!present);
        worst[mode] = worst[mode].max(most);
        frames[mode] += near;
        if present {
            fastest = fastest.max(dodged.fastest);
        }
    }
    let rockets = shots * ROUND_TRIPS.len();
    let note = format!("frames near the bystander of {rockets} rockets");
    figures.add_counted("rocket_error_cm_present", worst[0], frames[0], &note)?;
    figures.add_counted("control_rocket_error_cm_screen", worst[1], frames[1], note)?;
    figures.add_counted("rocket_hand_over_speed_ratio", fastest, rockets as u64, "rockets")?;
    let moving = play(link(100, 10, 0.02), ProjectileTime::ServerPresent, shots, options.seed)?;
    let most = moving.largest_error();
    let note = format!("frames near a bystander that moves, of {shots} rockets");
    figures.add_counted("rocket_error_cm_present_moving", most, moving.errors.len() as u64, note)
}
