//! Client side of clock synchronisation: sends pings and evaluates pongs.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Wire};
use bevy_unlag_smoothing::{ServerClock, ServerClockConfig};
use lightyear::prelude::*;

use super::{ClockPing, ClockPong, FrameTime};
use crate::{
    Bandwidth, MessageClass,
    protocol::{ClockChannel, PingMessage, PongMessage},
};

/// Maximum number of unanswered pings: more than three seconds of them.
const REMEMBERED: usize = 32;
/// Seconds between two pings: initially, and later.
const INTERVALS: (f64, f64) = (0.1, 0.2);
/// Duration of the initial phase, in seconds.
const HURRY: f64 = 2.0;

/// Unanswered pings of a link.
#[derive(Component)]
struct Questions {
    /// Send time of each ping, in seconds of [`Time<Real>`], indexed by the lowest bits of its id.
    asked: [Option<(u16, f64)>; REMEMBERED],
    next: u16,
    began: f64,
    due: f64,
}

impl Questions {
    fn new(now: f64) -> Self {
        Self { asked: [None; REMEMBERED], next: 0, began: now, due: now }
    }

    /// Returns the next ping if it is due.
    fn ask(&mut self, frame: f64, now: f64) -> Option<ClockPing> {
        if frame < self.due {
            return None;
        }
        let interval = if frame - self.began < HURRY { INTERVALS.0 } else { INTERVALS.1 };
        // Frames that miss the due time do not shift the schedule, and a stall causes no burst.
        self.due = (self.due + interval).max(frame);
        let id = self.next;
        self.next = id.wrapping_add(1);
        self.asked[usize::from(id) % REMEMBERED] = Some((id, now));
        Some(ClockPing { id })
    }

    /// Returns the send time of the ping with this id. Each ping is settled once.
    fn settle(&mut self, id: u16) -> Option<f64> {
        let slot = &mut self.asked[usize::from(id) % REMEMBERED];
        slot.take_if(|(asked, _)| *asked == id).map(|(_, at)| at)
    }
}

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<ServerClock>()
        .add_observer(begin)
        .add_systems(PreUpdate, take_answers.after(MessageSystems::Receive))
        .add_systems(PostUpdate, ask.before(MessageSystems::Send));
}

/// Resets the clock: another connection may be to another server with another time.
fn begin(
    connected: On<Add, Connected>,
    clients: Query<(), With<Client>>,
    time: Res<Time<Real>>,
    fixed: Res<Time<Fixed>>,
    mut clock: ResMut<ServerClock>,
    mut commands: Commands,
) {
    if clients.contains(connected.entity) {
        let config: ServerClockConfig = *clock.config();
        *clock = ServerClock::new(config, fixed.timestep().as_secs_f64());
        commands.entity(connected.entity).insert(Questions::new(time.elapsed_secs_f64()));
    }
}

fn ask(
    time: FrameTime,
    mut links: Query<(&mut MessageSender<PingMessage>, &mut Questions), (With<Client>, With<Connected>)>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (mut link, mut questions) in &mut links {
        let Some(ping) = questions.ask(time.real.elapsed_secs_f64(), time.now()) else { continue };
        let mut w = BitWriter::default();
        ping.write(&mut w);
        let bytes = w.finish();
        bandwidth.count(MessageClass::Pings, bytes.len(), 1);
        link.send::<ClockChannel>(PingMessage(bytes));
    }
}

fn take_answers(
    time: FrameTime,
    fixed: Res<Time<Fixed>>,
    mut links: Query<(&mut MessageReceiver<PongMessage>, &mut Questions), With<Client>>,
    mut clock: ResMut<ServerClock>,
    mut bandwidth: ResMut<Bandwidth>,
) {
    for (mut link, mut questions) in &mut links {
        for message in link.receive() {
            bandwidth.count(MessageClass::Pongs, message.0.len(), 1);
            let Ok(pong) = ClockPong::read(&mut BitReader::new(&message.0)) else { continue };
            let Some(asked) = questions.settle(pong.id) else { continue };
            let (received, answered) = pong.seconds(fixed.timestep().as_secs_f64());
            clock.sample(asked, received, answered, time.now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_are_sent_at_10_then_5_hz_at_any_frame_rate() {
        for fps in [30.0, 64.0, 144.0] {
            let mut questions = Questions::new(5.0);
            let mut asked = (0, 0);
            for frame in 0..(12.0 * fps) as u32 {
                let now = 5.0 + f64::from(frame) / fps;
                if questions.ask(now, now).is_some() {
                    if now < 7.0 { asked.0 += 1 } else { asked.1 += 1 }
                }
            }
            assert!((19..=21).contains(&asked.0) && (49..=51).contains(&asked.1), "{fps} fps: {asked:?}");
        }
    }

    #[test]
    fn pong_settles_its_own_ping_only_and_only_once() {
        let mut questions = Questions::new(0.0);
        let ids: Vec<_> =
            (0..40).filter_map(|k| questions.ask(f64::from(k), f64::from(k)).map(|ping| ping.id)).collect();
        assert_eq!(questions.settle(ids[39]), Some(39.0));
        assert_eq!(questions.settle(ids[39]), None, "answered twice");
        assert_eq!(questions.settle(ids[3]), None, "its slot was reused");
        assert_eq!(questions.settle(12_345), None, "never sent");
    }

    #[test]
    fn stall_is_not_followed_by_a_burst_of_pings() {
        let mut questions = Questions::new(0.0);
        assert!(questions.ask(0.0, 0.0).is_some());
        let asked = (0..10).filter(|k| questions.ask(60.0 + f64::from(*k) * 0.001, 60.0).is_some());
        assert!(asked.count() <= 2);
    }
}
