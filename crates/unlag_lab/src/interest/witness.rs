//! Record of what a client's player could see and what its machine knew, in every frame.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use crate::prelude::*;

/// Ticks of the truth that are kept.
const KEPT_TICKS: usize = 256;
/// Time in seconds for which a client knows where a pawn is after its last new snapshot: one interval, and as long as
/// it would extrapolate the pawn at full speed.
const KNOWN_SECONDS: f32 = 0.047 + 0.125;

/// Published positions of the living pawns in the last ticks, oldest first.
type Truth = VecDeque<(Tick, HashMap<NetId, Vec3>)>;

/// Truth that the server and its clients share.
#[derive(Resource, Clone, Default)]
pub struct SharedTruth(Arc<Mutex<Truth>>);

impl SharedTruth {
    /// Returns where a pawn was at a moment; `None` if it was not alive or the moment is unknown.
    fn place(&self, id: NetId, time: ViewTime) -> Option<Vec3> {
        let truth = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = truth.iter().position(|(tick, _)| *tick == time.tick)?;
        let from = truth.get(at)?.1.get(&id)?;
        let to = truth.get(at + 1).and_then(|(_, places)| places.get(&id)).unwrap_or(from);
        Some(from.lerp(*to, time.ticks_since(time.tick)))
    }
}

/// Frames and seconds of one client.
#[derive(Resource, Clone, Copy, Default, Debug)]
pub struct Sightings {
    /// Pawns in frames that the player's eye could see.
    pub visible_frames: u64,
    /// Those among them that were not drawn.
    pub missing_frames: u64,
    /// Pawn-seconds that the player could not see.
    pub unseen_seconds: f64,
    /// Those among them in which the client knew where the pawn was.
    pub known_seconds: f64,
    /// Sum over all frames of the milliseconds by which other pawns are drawn behind the player's own.
    delay_ms: f64,
    frames: u64,
}

impl Sightings {
    /// Returns the mean of the milliseconds by which other pawns are drawn behind the player's own.
    pub fn mean_delay_ms(&self) -> f64 {
        self.delay_ms / self.frames.max(1) as f64
    }
}

impl core::ops::AddAssign for Sightings {
    fn add_assign(&mut self, other: Self) {
        self.visible_frames += other.visible_frames;
        self.missing_frames += other.missing_frames;
        self.unseen_seconds += other.unseen_seconds;
        self.known_seconds += other.known_seconds;
        self.delay_ms += other.delay_ms;
        self.frames += other.frames;
    }
}

/// Adds the recording of the truth and the witnesses to a match.
pub fn watch(game: &mut Match) {
    let truth = SharedTruth::default();
    game.server.insert_resource(truth.clone()).add_systems(FixedLast, record);
    for client in &mut game.clients {
        client.insert_resource(truth.clone()).init_resource::<Sightings>().add_systems(Last, witness);
    }
}

fn record(tick: Res<CurrentTick>, pawns: Query<(&NetId, &PublishedPath)>, truth: Res<SharedTruth>) {
    let present = pawns.iter().filter_map(|(id, path)| Some((*id, path.present()?)));
    let places = present.filter(|(_, pose)| pose.alive).map(|(id, pose)| (id, pose.position));
    let places = places.collect();
    let mut truth = truth.0.lock().unwrap_or_else(PoisonError::into_inner);
    truth.push_back((tick.0, places));
    if truth.len() > KEPT_TICKS {
        truth.pop_front();
    }
}

type Own = (&'static DrawnPose, &'static DrawnEye);

fn witness(
    (time, view, tick): (Res<Time<Real>>, Res<DrawnViewTime>, Res<CurrentTick>),
    own: Query<Own, With<LocalControl>>,
    others: Query<(&NetId, &DrawnPose, &SnapshotHistory), Without<LocalControl>>,
    (truth, world): (Res<SharedTruth>, WorldTrace),
    mut news: Local<HashMap<NetId, (Tick, f32)>>,
    mut sightings: ResMut<Sightings>,
) {
    let (Ok((drawn, eye)), Some(view)) = (own.single(), view.0) else { return };
    let (now, frame) = (time.elapsed_secs(), f64::from(time.delta_secs()));
    let eye = drawn.pose.position + Vec3::Y * eye.0;
    sightings.delay_ms -= f64::from(view.ticks_since(tick.0)) * TICK.as_secs_f64() * 1e3;
    sightings.frames += 1;
    for (id, other, history) in &others {
        let Some(place) = truth.place(*id, view) else { continue };
        let is_visible = points(place, eye).into_iter().any(|point| world.is_clear(eye, point));
        let newest = history.newest().map(|newest| newest.tick);
        let known = news.entry(*id).or_insert((Tick(0), f32::NEG_INFINITY));
        if let Some(newest) = newest.filter(|newest| *newest != known.0) {
            *known = (newest, now);
        }
        if is_visible {
            sightings.visible_frames += 1;
            sightings.missing_frames += u64::from(!other.pose.alive);
        } else {
            sightings.unseen_seconds += frame;
            if now - known.1 <= KNOWN_SECONDS {
                sightings.known_seconds += frame;
            }
        }
    }
}

/// Returns points of a standing or crouching pawn: head, shoulders, hips and knees.
fn points(root: Vec3, eye: Vec3) -> [Vec3; 5] {
    let way = eye - root;
    let across = Vec3::new(-way.z, 0.0, way.x).normalize_or_zero() * 0.2;
    [
        root + Vec3::Y * 1.6,
        root + Vec3::Y * 1.3 + across,
        root + Vec3::Y * 1.3 - across,
        root + Vec3::Y * 0.9,
        root + Vec3::Y * 0.4,
    ]
}
