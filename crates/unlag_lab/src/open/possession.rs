//! A player who changes between a soldier, another soldier and a kart while walking, driving and shooting.

use bevy_unlag::{
    CharacterPawn, Characters, NpcControls, NpcPawn, SoldierWith, movement::abilities::Dash, net::Possess,
};
use bevy_unlag_testkit::{SteppedApps, headless_app};

use super::{join, level};
use crate::prelude::*;

/// A second body with weapons, of another model.
type Dasher = SoldierWith<Dash>;

fn characters() -> Characters {
    Characters::of::<Soldier>().with::<Dasher>().with::<KartModel>()
}

/// The player's link and the bodies to change between.
#[derive(Resource, Default)]
struct Bodies {
    link: Option<Entity>,
    pawns: Vec<Entity>,
}

fn server(mode: RewindMode) -> App {
    let mut server = headless_app();
    server
        .add_plugins(UnlagServerPlugins { characters: characters(), ..default() })
        .insert_resource(RewindLimits { mode, ..default() })
        .init_resource::<Bodies>()
        .add_systems(Startup, (level, spawn_target))
        .add_systems(FixedUpdate, strafe.before(MoveSystems::Sample))
        .add_observer(|joined: On<PlayerJoined>, mut bodies: ResMut<Bodies>, mut commands: Commands| {
            let place = |x: f32| Transform::from_xyz(x, 0.1, 0.0);
            let owner = player_pawn(joined.link, joined.peer);
            bodies.link = Some(joined.link);
            bodies.pawns = vec![
                commands.spawn((CharacterPawn::<Soldier>::default(), place(0.0), owner)).id(),
                commands.spawn((NpcPawn::<Dasher>::default(), place(1.0))).id(),
                commands.spawn((NpcPawn::<KartModel>::default(), place(-4.0))).id(),
            ];
        });
    server
}

/// A character to shoot at.
fn spawn_target(mut commands: Commands) {
    let target = (NpcPawn::<Soldier>::default(), NetId(900), NpcControls::default());
    commands.spawn((target, Transform::from_xyz(0.0, 0.1, 25.0)));
}

fn strafe(tick: Res<CurrentTick>, mut npcs: Query<&mut NpcControls>) {
    for mut controls in &mut npcs {
        let left = (tick.0.0 / 80).is_multiple_of(2);
        controls.0.set_axes(Vec2::new(if left { -1.0 } else { 1.0 }, 0.0));
    }
}

/// Shots of the client by their tick: whether its screen showed a hit, and the verdict.
#[derive(Resource, Default)]
struct Shots(HashMap<Tick, (bool, Option<ShotResult>)>);

fn client() -> App {
    let mut client = headless_app();
    client
        .add_plugins((
            UnlagClientPlugins { characters: characters(), ..default() },
            PlayerControlsPlugin::default(),
        ))
        .init_resource::<Shots>()
        .add_systems(Startup, level)
        .add_systems(RunFixedMainLoop, play.in_set(bevy_unlag::ControlSystems::Accumulate))
        .add_systems(Last, record);
    client
}

/// Walks or drives in a curve, with the view on the target and a pull every half second, a third of them beside it.
fn play(
    time: Res<Time>,
    mut own: Query<(&DrawnPose, &mut InputAccumulator, Option<&mut WeaponControls>), With<LocalControl>>,
    others: Query<(&NetId, &DrawnPose), Without<LocalControl>>,
) {
    let now = time.elapsed_secs();
    let target = others.iter().find(|(id, _)| id.0 == 900).map(|(_, drawn)| drawn.pose.position);
    for (drawn, mut input, trigger) in &mut own {
        input.axes(Vec2::new((now * 0.9).sin(), (now * 0.37).cos()));
        if let Some(target) = target {
            let aside = [0.0, 0.2, 1.2][(now * 2.0) as usize % 3];
            let chest = target + Vec3::new(aside, 1.2, 0.0);
            let wanted = Aim::from_direction(chest - (drawn.pose.position + Vec3::Y * 1.64));
            let CapsuleInput { yaw, pitch, .. } = input.current();
            // No faster than a player turns: another body may be on the other side of the target.
            let look = Aim { yaw, pitch }.rotate_towards(wanted, 15.0 * time.delta_secs());
            input.look_along(look.direction());
        }
        if let Some(mut trigger) = trigger {
            trigger.set_fire((now * 2.0).fract() < 0.1);
        }
    }
}

fn record(
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut shots: ResMut<Shots>,
) {
    for shot in fired.read() {
        shots.0.entry(shot.round.shot).or_default().0 = shot.drawn().is_some();
    }
    for verdict in verdicts.read() {
        shots.0.entry(verdict.shot).or_default().1 = Some(verdict.result);
    }
}

/// Result of a match.
struct Played {
    corrections: u64,
    shots: usize,
    /// Shots whose verdict is what the screen showed.
    agreed: usize,
}

impl Played {
    fn agreement_percent(&self) -> f64 {
        100.0 * self.agreed as f64 / self.shots as f64
    }
}

/// Plays a match with this number of changes.
fn play_match(seed: u64, switches: u32, mode: RewindMode) -> Result<Played, String> {
    let mut game = SteppedApps::new(server(mode));
    join(&mut game, client(), seed, 75, 0.05)?;
    game.run(Duration::from_secs(3));
    let mut rng = SmallRng::seed_from_u64(seed);
    let (mut body, mut arrived) = (0, 0);
    for _ in 0..switches {
        body = (body + rng.random_range(1..3)) % 3;
        let world = game.server.world_mut();
        let bodies = world.resource::<Bodies>();
        let (link, pawn) = (bodies.link.ok_or("the client has not joined")?, bodies.pawns[body]);
        world.trigger(Possess { link, pawn: Some(pawn) });
        world.flush();
        game.run(Duration::from_millis(rng.random_range(600..1_400)));
        let id = game.server.world().get::<NetId>(pawn).copied();
        let world = game.clients[0].world_mut();
        let own = world.query_filtered::<&NetId, With<LocalControl>>().iter(world).next().copied();
        arrived += u32::from(own == id);
    }
    if arrived < switches {
        return Err(format!("only {arrived} of {switches} changes reached the client"));
    }
    let world = game.clients[0].world_mut();
    world.query::<&mut WeaponControls>().iter_mut(world).for_each(|mut trigger| trigger.buffer_time = 0.0);
    game.run(Duration::from_secs(2));
    let world = game.clients[0].world_mut();
    let corrections = world.query::<&PredictionStats>().iter(world).map(|own| own.corrections).sum();
    let now = world.resource::<CurrentTick>().0;
    // The last shots may still be on their way.
    let shots: Vec<_> =
        world.resource::<Shots>().0.iter().filter(|(shot, _)| now.since(**shot) > 64).collect();
    let agrees = |(_, (drawn, verdict)): &&(&Tick, &(bool, Option<ShotResult>))| match verdict {
        Some(ShotResult::Hit(_)) => *drawn,
        Some(ShotResult::Miss) => !drawn,
        _ => false,
    };
    Ok(Played { corrections, shots: shots.len(), agreed: shots.iter().filter(agrees).count() })
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let played = play_match(options.seed, options.extent(40, 200), RewindMode::On)?;
    figures.add("possession_corrections", played.corrections as f64)?;
    let note = format!("{} shots", played.shots);
    figures.add_noted("possession_agreement", played.agreement_percent(), note)?;
    let control = play_match(options.seed, options.extent(40, 100), RewindMode::Off)?;
    let note = format!("{} shots", control.shots);
    figures.add_noted("control_possession_agreement_rewind_off", control.agreement_percent(), note)
}
