//! The host of a listen server changes pawns, in front of a remote player.

use super::*;

const HOST: NetId = NetId(1);
const KART: NetId = NetId(2);
const GUARD: NetId = NetId(3);

fn spawn(mut commands: Commands) {
    commands.spawn((HostSoldierPawn, HOST, Transform::from_xyz(0.0, 0.1, 0.0)));
    commands.spawn((NpcPawn::<KartModel>::default(), KART, Transform::from_xyz(6.0, 0.1, 0.0)));
    // A character that walks by itself.
    let mut controls = NpcControls::default();
    controls.0.set_axes(Vec2::X);
    let place = Transform::from_xyz(-12.0, 0.1, 0.0);
    commands.spawn((NpcPawn::<Soldier>::default(), GUARD, controls, WeaponControls::default(), place));
}

/// Starts a host that walks or drives forwards, and a remote player.
fn host_game() -> SteppedApps {
    let mut server = headless_app();
    server
        .add_plugins((
            UnlagServerPlugins { characters: characters(), ..default() },
            PlayerControlsPlugin::default(),
        ))
        .init_resource::<Pawns>()
        .add_systems(Startup, (level, spawn))
        .add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
            own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
        })
        .add_observer(|joined: On<PlayerJoined>, mut pawns: ResMut<Pawns>, mut commands: Commands| {
            let owner = player_pawn(joined.link, joined.peer);
            let place = Transform::from_xyz(40.0, 0.1, 0.0);
            pawns.link = Some(joined.link);
            commands.spawn((SoldierPawn, NetId(10), place, owner));
        })
        .add_observer(|done: On<Possessed>, mut pawns: ResMut<Pawns>| pawns.possessed.push(done.pawn));
    let mut client = client();
    client.init_resource::<Screen>().add_systems(Last, record);
    let mut game = SteppedApps::new(server);
    let mut sim = NetSim::new(3);
    sim.set(LinkConditions { latency: Duration::from_millis(75), loss: 0.05, ..default() });
    game.join_over(client, sim).expect("the client joins");
    game.run(Duration::from_secs(2));
    game
}

/// Places at which the remote player's screen has shown each pawn, by frame.
#[derive(Resource, Default)]
struct Screen(Vec<(NetId, Vec3)>);

fn record(
    pawns: Query<(&NetId, &DrawnPose, &VisualOffset), Without<LocalControl>>,
    mut screen: ResMut<Screen>,
) {
    let shown = pawns.iter().filter(|(_, drawn, _)| drawn.pose.alive);
    screen.0.extend(shown.map(|(id, drawn, offset)| (*id, drawn.pose.position + offset.offset)));
}

/// Runs the game and returns how far a pawn moved on the remote player's screen, and its widest step.
fn watch(game: &mut SteppedApps, id: NetId, time: Duration) -> (f32, f32) {
    game.clients[0].world_mut().resource_mut::<Screen>().0.clear();
    game.run(time);
    let screen = &game.clients[0].world().resource::<Screen>().0;
    let places: Vec<Vec3> = screen.iter().filter(|(shown, _)| *shown == id).map(|(_, at)| *at).collect();
    assert!(places.len() + 2 > (time.as_millis() / 10) as usize, "{id:?}: frames without the pawn");
    let widest = places.windows(2).map(|pair| pair[0].distance(pair[1])).fold(0.0, f32::max);
    (places[0].distance(places[places.len() - 1]), widest)
}

fn pawn(game: &mut SteppedApps, id: NetId) -> Entity {
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    pawns.iter(world).find(|(_, of)| **of == id).expect("the pawn is there").0
}

fn possess_as_host(game: &mut SteppedApps, id: Option<NetId>) {
    let (link, pawn) = (game.listener, id.map(|id| pawn(game, id)));
    let world = game.server.world_mut();
    world.trigger(Possess { link, pawn });
    world.flush();
}

fn host_s_own(game: &mut SteppedApps) -> Vec<NetId> {
    let world = game.server.world_mut();
    world.query_filtered::<&NetId, With<LocalControl>>().iter(world).copied().collect()
}

fn soldier_at(game: &mut SteppedApps, id: NetId) -> Vec3 {
    let pawn = pawn(game, id);
    Soldier::position(game.server.world().get::<SoldierState>(pawn).expect("a soldier"))
}

/// A second in which the pawn is on the way.
const SECOND: Duration = Duration::from_secs(1);

#[test]
fn host_drives_a_kart_and_walks_on_with_its_own_soldier() {
    let mut game = host_game();
    // The control: the kart stands, and the soldier walks at 6 m/s.
    assert!(watch(&mut game, KART, SECOND).0 < 0.01);
    let from = soldier_at(&mut game, HOST);
    game.run(SECOND);
    let speed = soldier_at(&mut game, HOST).distance(from);
    assert!((speed - 6.0).abs() < 0.2, "{speed} m/s");

    possess_as_host(&mut game, Some(KART));
    assert_eq!(host_s_own(&mut game), [KART], "at once");
    let (driven, widest) = watch(&mut game, KART, 2 * SECOND);
    assert!(driven > 3.0 && widest < 0.4, "the kart was seen to drive {driven} m, with a step of {widest} m");
    let (stood, widest) = watch(&mut game, HOST, SECOND);
    assert!(stood < 0.01 && widest < 0.01, "the soldier without a player moves by {stood} m");

    // Nobody else can take the kart meanwhile.
    let kart = pawn(&mut game, KART);
    possess(&mut game, |_| Some(kart));
    game.run(SECOND);
    assert_eq!(own(&mut game), Some(NetId(10)));

    possess_as_host(&mut game, Some(HOST));
    assert_eq!(host_s_own(&mut game), [HOST]);
    let from = soldier_at(&mut game, HOST);
    let (walked, widest) = watch(&mut game, HOST, SECOND);
    assert!(
        walked > 3.0 && widest < 0.3,
        "the soldier was seen to walk {walked} m, with a step of {widest} m"
    );
    let speed = soldier_at(&mut game, HOST).distance(from);
    // It starts from rest. Stepped twice per tick it would reach 12 m/s.
    assert!((4.5..6.2).contains(&speed), "{speed} m/s");
    assert_eq!(game.server.world().resource::<Pawns>().possessed.len(), 2);

    // The kart is free.
    possess(&mut game, |_| Some(kart));
    game.run(SECOND);
    assert_eq!(own(&mut game), Some(KART));
    assert_eq!(corrections(&mut game), 0);
    // The host cannot take it from the remote player.
    possess_as_host(&mut game, Some(KART));
    assert_eq!(host_s_own(&mut game), [HOST]);
}

#[test]
fn host_takes_the_pawn_of_a_character_and_gives_it_back() {
    let mut game = host_game();
    let x = |game: &mut SteppedApps| soldier_at(game, GUARD).x;
    let from = x(&mut game);
    game.run(SECOND);
    // The control: it walks to its right by itself.
    assert!(x(&mut game) - from > 4.0);
    possess_as_host(&mut game, Some(GUARD));
    game.run(SECOND);
    let from = soldier_at(&mut game, GUARD);
    game.run(SECOND);
    let way = soldier_at(&mut game, GUARD) - from;
    assert!(way.z < -5.0 && way.x.abs() < 0.1, "it walks forwards, as the host does: {way}");

    possess_as_host(&mut game, None);
    assert!(host_s_own(&mut game).is_empty());
    game.run(SECOND);
    let from = x(&mut game);
    game.run(SECOND);
    assert!(x(&mut game) - from > 4.0, "it walks by itself again");
    let guard = pawn(&mut game, GUARD);
    assert!(game.server.world().get::<WeaponControls>(guard).is_some(), "it keeps its trigger");

    // A host without a pawn takes its own soldier again.
    possess_as_host(&mut game, Some(HOST));
    assert_eq!(host_s_own(&mut game), [HOST]);
    let from = soldier_at(&mut game, HOST);
    game.run(SECOND);
    assert!(soldier_at(&mut game, HOST).distance(from) > 5.0);
}
