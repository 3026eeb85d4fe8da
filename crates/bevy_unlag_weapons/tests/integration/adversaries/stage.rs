//! Test stage: a server, the possibly modified client of a shooter, and the link between them.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{
    BasePoses, CurrentTick, DrawnPose, DrawnViewTime, LastReceivedSnapshot, MoveInput, MoveModel,
    MoveSystems, NetId, NetRole, PathKnotConfig, PoseSampler, RoundTrip, Tick, ViewTime,
};
use bevy_unlag_movement::{CapsuleConfig, CapsuleModel, CapsuleState, MovementPlugin};
use bevy_unlag_prediction::{
    AuthorityPawn, AutonomousPawn, IncomingMoveAcks, IncomingMoves, OutgoingMoveAcks, OutgoingMoves,
    PredictionPlugin, PredictionStats,
};
use bevy_unlag_rewind::{FrameHistory, RewindPlugin, ViewTimeValidator, humanoid_hit_boxes, humanoid_rig};
use bevy_unlag_smoothing::SentSnapshots;
use bevy_unlag_weapons::{
    Aim, Arsenal, Damage, Loadout, OutgoingShotMessages, RefusedShots, ShotMessage, ShotRefusal,
    ShotResolved, ShotResult, ShotVerdict, SpreadSecret, Weapon, WeaponControls, WeaponId, WeaponState,
    WeaponsPlugin,
};

use crate::adversaries::cheat::{Input, Knows, Modified, Soldier, State, forged, modify};
use bevy_unlag_smoothing::PublishedPath;

const TICK: Duration = Duration::from_nanos(15_625_000);
/// One-way latency in ticks.
pub const WAY: u32 = 4;
/// Snapshot interval in ticks.
const SENT_EVERY: u32 = 3;
/// Playout delay of the screen behind the server in ticks: it always shows poses between received snapshots.
pub const BEHIND: i32 = WAY as i32 + 4;

enum Down {
    Answer(Vec<u8>),
    Snapshots(Tick),
}

/// A target pawn.
struct Target {
    server: Entity,
    client: Entity,
    id: NetId,
    /// Whether the target is left out of the shooter's snapshots.
    hidden: bool,
}

pub struct Duel {
    pub server: App,
    pub client: App,
    /// The shooter, on the server and on the client.
    pub shooter: Entity,
    own: Entity,
    targets: Vec<Target>,
    /// Offset of the aim from the displayed chest of the first target.
    pub aside: Option<Vec3>,
    frame: u32,
    up: VecDeque<(u32, Vec<u8>)>,
    down: VecDeque<(u32, Down)>,
    /// Packets that were sent.
    pub packets: Vec<Vec<u8>>,
    /// Change of each move in each packet on its way.
    pub forge: Option<Box<dyn FnMut(Tick, &mut Input)>>,
    /// Number of moves that the client produces per tick.
    pub moves_a_tick: u32,
    pub damage: Vec<Damage>,
    pub verdicts: Vec<ShotVerdict>,
    /// Reports of the server to its game.
    pub reports: Vec<ShotResolved>,
}

fn app(weapons: &[Weapon]) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        MovementPlugin,
        RewindPlugin::<Soldier>::default(),
        PredictionPlugin::<Soldier>::default(),
        WeaponsPlugin::<CapsuleModel>::default(),
    ))
    .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
    .insert_resource(Arsenal::new(weapons.to_vec()).expect("valid weapons"))
    .insert_resource(SpreadSecret(7))
    .init_resource::<Modified>()
    .add_systems(FixedUpdate, modify.after(MoveSystems::Extend).before(MoveSystems::Step));
    app.finish();
    app.cleanup();
    app
}

fn soldier(place: Vec3) -> State {
    State { body: CapsuleState::at(place), extension: WeaponState::default() }
}

fn drain<M: Message>(app: &mut App) -> Vec<M> {
    app.world_mut().resource_mut::<Messages<M>>().drain().collect()
}

impl Duel {
    /// Creates a shooter at the origin with all these weapons, and a target ten metres ahead.
    pub fn new(weapons: &[Weapon]) -> Self {
        Self::with_loadout(weapons, weapons.len())
    }

    /// Creates a shooter that carries the first of these weapons.
    pub fn with_loadout(weapons: &[Weapon], carried: usize) -> Self {
        let (mut server, mut client) = (app(weapons), app(weapons));
        for app in [&mut server, &mut client] {
            wall(app, Vec3::new(50.0, 0.5, 50.0), Vec3::new(0.0, -0.5, 0.0));
        }
        let loadout = Loadout((0..carried).map(|id| WeaponId(id as u8)).collect());
        let body = (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
        let shooter = server.world_mut().spawn((
            (NetId(1), AuthorityPawn::<Soldier>::default(), soldier(Vec3::ZERO), body, loadout),
            (SentSnapshots::default(), ViewTimeValidator::default(), RoundTrip::first(TICK * (2 * WAY + 1))),
            (OutgoingShotMessages::default(), RefusedShots::default()),
        ));
        let shooter = shooter.id();
        let own = (NetId(1), AutonomousPawn::<Soldier>::default(), WeaponControls::default());
        let own = client.world_mut().spawn(own).id();
        let mut duel = Self {
            server,
            client,
            shooter,
            own,
            targets: Vec::new(),
            aside: Some(Vec3::ZERO),
            frame: 0,
            up: VecDeque::new(),
            down: VecDeque::new(),
            packets: Vec::new(),
            forge: None,
            moves_a_tick: 1,
            damage: Vec::new(),
            verdicts: Vec::new(),
            reports: Vec::new(),
        };
        duel.target(2, Vec3::NEG_Z * 10.0);
        duel.run(120);
        duel
    }

    /// Adds a target.
    pub fn target(&mut self, id: u16, place: Vec3) -> usize {
        let body = || (humanoid_hit_boxes(), humanoid_rig());
        let server = (NetId(id), NetRole::Authority, soldier(place), FrameHistory::default(), body());
        let server = self.server.world_mut().spawn(server).id();
        let client = (NetId(id), NetRole::SimulatedProxy, DrawnPose::default(), body());
        let client = self.client.world_mut().spawn(client).id();
        self.targets.push(Target { server, client, id: NetId(id), hidden: false });
        self.targets.len() - 1
    }

    /// Leaves a target out of the shooter's snapshots from now on.
    pub fn hide(&mut self, target: usize) {
        self.targets[target].hidden = true;
    }

    /// State of a target on the server.
    pub fn target_state(&mut self, target: usize) -> Mut<'_, State> {
        self.server.world_mut().get_mut(self.targets[target].server).expect("a target")
    }

    /// State of the shooter on its client.
    pub fn own_state(&self) -> &State {
        self.client.world().get(self.own).expect("the own pawn")
    }

    pub fn modify(&mut self, change: impl FnMut(&Knows, &mut Input, &mut State) + Send + Sync + 'static) {
        self.client.world_mut().resource_mut::<Modified>().0 = Some(Box::new(change));
    }

    /// Turns aim and look direction of the shooter.
    pub fn look(&mut self, along: Vec3) {
        let aim = Aim::from_direction(along);
        let mut own = self.client.world_mut().entity_mut(self.own);
        *own.get_mut::<Aim>().expect("an aim") = aim;
        let mut input = own.get_mut::<MoveInput<Soldier>>().expect("an input");
        (input.0.body.yaw, input.0.body.pitch) = (aim.yaw, aim.pitch);
    }

    pub fn hold(&mut self, held: bool) {
        self.client.world_mut().get_mut::<WeaponControls>(self.own).expect("a trigger").set_fire(held);
    }

    /// Fires a single honest shot and returns its result.
    pub fn tap_and_expect_verdict(&mut self) -> ShotResult {
        let before = self.verdicts.len();
        self.hold(true);
        self.run(1);
        self.hold(false);
        self.run(30);
        assert_eq!(self.verdicts.len(), before + 1, "one shot, one verdict");
        self.verdicts[before].result
    }

    /// Changes a single move and returns the result of its shot.
    pub fn expect_one_verdict(
        &mut self,
        mut change: impl FnMut(&Knows, &mut Input, &mut State) + Send + Sync + 'static,
    ) -> ShotResult {
        let before = self.verdicts.len();
        let mut done = false;
        self.modify(move |knows, input, state| {
            if !core::mem::replace(&mut done, true) {
                change(knows, input, state);
            }
        });
        self.run(31);
        assert_eq!(self.verdicts.len(), before + 1, "one shot, one verdict");
        self.verdicts[before].result
    }

    /// The server's pose of a target at a view time, as every screen shows it.
    fn drawn(&self, target: &Target, time: ViewTime) -> Option<DrawnPose> {
        let history = self.server.world().get::<PublishedPath>(target.server)?;
        let stamp = history.sent.stamp(time)?;
        let pose = history.sent.pose(stamp, &PoseSampler::default(), &BasePoses::default().at(time))?;
        Some(DrawnPose { pose, stamp })
    }

    /// The displayed position of a target's chest at a view time.
    pub fn chest(&self, target: usize, time: ViewTime) -> Option<Vec3> {
        Some(self.drawn(&self.targets[target], time)?.pose.position + Vec3::Y * 1.2)
    }

    pub fn now(&self) -> Tick {
        self.server.world().resource::<CurrentTick>().0
    }

    /// The view time of the shooter's screen.
    pub fn view(&self) -> ViewTime {
        ViewTime::at(self.now().offset(-BEHIND))
    }

    pub fn run(&mut self, frames: u32) {
        for _ in 0..frames {
            self.client_frame();
            self.server_frame();
            self.frame += 1;
        }
    }

    /// Lets the client hang for some ticks; it produces their moves in its next frame.
    pub fn hang(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.server_frame();
            self.frame += 1;
        }
        let usual = core::mem::replace(&mut self.moves_a_tick, ticks + 1);
        self.run(1);
        self.moves_a_tick = usual;
    }

    fn client_frame(&mut self) {
        while let Some((_, what)) = self.down.pop_front_if(|(due, _)| *due <= self.frame) {
            match what {
                Down::Answer(bytes) => {
                    let mut own = self.client.world_mut().entity_mut(self.own);
                    own.get_mut::<IncomingMoveAcks>().expect("a mailbox").deliver(bytes);
                }
                Down::Snapshots(tick) => {
                    self.client.world_mut().resource_mut::<LastReceivedSnapshot>().record(tick);
                }
            }
        }
        let view = self.view();
        for i in 0..self.targets.len() {
            if let Some(drawn) = self.drawn(&self.targets[i], view) {
                let client = self.targets[i].client;
                *self.client.world_mut().get_mut::<DrawnPose>(client).expect("drawn") = drawn;
            }
        }
        let heard = self.client.world().resource::<LastReceivedSnapshot>().0;
        self.client.world_mut().resource_mut::<DrawnViewTime>().0 = heard.map(|_| view);
        if let Some((aside, chest)) = self.aside.zip(self.chest(0, view)) {
            let eye = self.eye();
            self.look(chest + aside - eye);
        }
        for _ in 0..self.moves_a_tick {
            self.client.update();
            let mut own = self.client.world_mut().entity_mut(self.own);
            let sent = core::mem::take(&mut own.get_mut::<OutgoingMoves>().expect("a mailbox").0);
            for bytes in sent {
                let bytes = match &mut self.forge {
                    Some(forge) => forged(&bytes, self.client.world().resource::<CurrentTick>().0, forge),
                    None => bytes,
                };
                self.packets.push(bytes.clone());
                self.up.push_back((self.frame + WAY, bytes));
            }
        }
    }

    /// The displayed eye position of the shooter.
    pub fn eye(&self) -> Vec3 {
        CapsuleModel::eye(self.client.world().resource::<CapsuleConfig>(), &self.own_state().body)
    }

    fn server_frame(&mut self) {
        while let Some((_, bytes)) = self.up.pop_front_if(|(due, _)| *due <= self.frame) {
            self.deliver(bytes);
        }
        self.server.update();
        let now = self.now();
        let mut shooter = self.server.world_mut().entity_mut(self.shooter);
        let answers = core::mem::take(&mut shooter.get_mut::<OutgoingMoveAcks>().expect("a mailbox").0);
        let messages = core::mem::take(&mut shooter.get_mut::<OutgoingShotMessages>().expect("a mailbox").0);
        self.down.extend(answers.into_iter().map(|bytes| (self.frame + WAY, Down::Answer(bytes))));
        self.verdicts.extend(messages.into_iter().filter_map(|message| match message {
            ShotMessage::Verdict(verdict) => Some(verdict),
            _ => None,
        }));
        self.damage.extend(drain::<Damage>(&mut self.server));
        self.reports.extend(drain::<ShotResolved>(&mut self.server));
        if now.0.is_multiple_of(SENT_EVERY) {
            self.send_snapshots(now);
            self.down.push_back((self.frame + WAY, Down::Snapshots(now)));
        }
    }

    fn send_snapshots(&mut self, now: Tick) {
        for target in &self.targets {
            let world = self.server.world_mut();
            let Some(mut history) = world.get_mut::<PublishedPath>(target.server) else { continue };
            let update = history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
            let Some(update) = update else { continue };
            let mut sent = world.get_mut::<SentSnapshots>(self.shooter).expect("a log");
            if target.hidden {
                sent.mark_hidden(now);
            } else {
                sent.mark_update(target.id, update.iter().map(|snapshot| snapshot.tick), now);
            }
        }
    }

    /// Delivers a packet to the server.
    pub fn deliver(&mut self, bytes: Vec<u8>) {
        let mut shooter = self.server.world_mut().entity_mut(self.shooter);
        shooter.get_mut::<IncomingMoves>().expect("a mailbox").deliver(bytes);
    }

    pub fn refused(&self, why: ShotRefusal) -> u64 {
        self.server.world().get::<RefusedShots>(self.shooter).expect("counters").of(why)
    }

    /// Prediction statistics of the shooter on the server.
    pub fn stats(&self) -> &PredictionStats {
        self.server.world().get(self.shooter).expect("counters")
    }
}

pub fn wall(app: &mut App, half: Vec3, at: Vec3) {
    app.world_mut().spawn((Collider::cuboid(half.x, half.y, half.z), Transform::from_translation(at)));
}
