//! Times of frames and ticks by system set: timestamps between the sets that order them.

use core::time::Duration;
use std::time::Instant;

use bevy::{
    app::{FixedMainScheduleOrder, MainScheduleOrder},
    ecs::{
        schedule::{ScheduleConfigs, ScheduleLabel, SingleThreadedExecutor},
        system::ScheduleSystem,
    },
    prelude::*,
};
use bevy_unlag_core::{MoveSystems, Stall};
use bevy_unlag_rewind::RewindSystems;
use bevy_unlag_weapons::WeaponSystems;
use lightyear::{
    connection::ConnectionSystems,
    link::LinkSystems,
    prelude::{MessageSystems, ReplicationSystems},
    transport::plugin::TransportSystems,
};
use lightyear_guard::GuardSystems;

use super::histogram::{FRAME_BOUNDS, Histogram};
use crate::watchdog::Heart;

bevy_unlag_core::named_enum! {
    /// Section of a frame, named by the system set or schedule that ends it. It begins where the section before it
    /// ends, or with its schedule. Systems of other plugins in between count, too.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Section {
        ReceiveLinks => "LinkSystems::Receive",
        CheckDatagrams => "GuardSystems::Tokens",
        ReceiveConnections => "ConnectionSystems::Receive",
        CheckPackets => "GuardSystems::Packets",
        ReceiveTransport => "TransportSystems::Receive",
        EndPreUpdate => "PreUpdate",
        BeforeMoves => "MoveSystems::Extend",
        Moves => "MoveSystems::Step",
        RecordFrames => "RewindSystems::UpdateTable",
        ValidateShots => "WeaponSystems::Validate",
        EndTick => "FixedLast",
        EndUpdate => "Update",
        SendReplication => "ReplicationSystems::Send",
        SendMessages => "MessageSystems::Send",
        SendLinks => "LinkSystems::Send",
        EndPostUpdate => "PostUpdate",
        EndFrame => "Last",
    }
}

impl Section {
    /// Returns the section that begins where this one ends, if there is one.
    fn following(self) -> Option<Self> {
        match self {
            // Ticks, another tick or none, and the time between two updates.
            Self::EndPreUpdate | Self::EndTick | Self::EndFrame => None,
            _ => Self::ALL.get(self as usize + 1).copied(),
        }
    }
}

/// Returns the name of a section by its number, and that of the section at whose end it begins, if there is one.
pub(super) fn section_names(number: usize) -> Option<(&'static str, Option<&'static str>)> {
    let section = Section::ALL.get(number).copied()?;
    let before = Section::ALL.into_iter().find(|before| before.following() == Some(section));
    Some((section.name(), before.map(Section::name)))
}

/// Times since the server started.
#[derive(Resource, Clone, Debug)]
pub(super) struct SetTimes {
    sections: [Histogram; Section::ALL.len()],
    /// The fixed schedules of one tick.
    pub tick: Histogram,
    /// Whole frames, with ticks and without.
    pub frame: Histogram,
    /// Ticks lost by stalls.
    pub skipped_ticks: u64,
    tick_began: Instant,
    frame_began: Instant,
    /// End of the last section.
    last: Instant,
}

impl Default for SetTimes {
    fn default() -> Self {
        let now = Instant::now();
        let empty = || Histogram::new(FRAME_BOUNDS);
        Self {
            sections: core::array::from_fn(|_| empty()),
            tick: empty(),
            frame: empty(),
            skipped_ticks: 0,
            tick_began: now,
            frame_began: now,
            last: now,
        }
    }
}

impl SetTimes {
    /// Returns the times by section.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, &Histogram)> {
        Section::ALL.into_iter().map(Section::name).zip(&self.sections)
    }

    /// Ends a section. Returns the time at which it has ended.
    fn end(&mut self, section: Section) -> Instant {
        let now = Instant::now();
        self.sections[section as usize].observe(now - self.last);
        self.last = now;
        now
    }
}

/// Schedule with a timestamp, before or after another schedule.
#[derive(ScheduleLabel, Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Cut {
    BeginFrame,
    BeginPreUpdate,
    EndPreUpdate,
    BeginUpdate,
    EndUpdate,
    EndPostUpdate,
    EndFrame,
    BeginTick,
    EndTick,
}

pub(super) fn plugin(app: &mut App) {
    app.init_resource::<SetTimes>().init_resource::<Stall>();
    add_cuts(app);
    app.add_systems(
        PreUpdate,
        (
            between(Section::ReceiveLinks, LinkSystems::Receive, GuardSystems::Datagrams),
            between(Section::CheckDatagrams, GuardSystems::Tokens, ConnectionSystems::Receive),
            between(Section::ReceiveConnections, ConnectionSystems::Receive, GuardSystems::Packets),
            between(Section::CheckPackets, GuardSystems::Packets, TransportSystems::Receive),
            between(Section::ReceiveTransport, TransportSystems::Receive, MessageSystems::Receive),
        )
            .chain(),
    )
    .add_systems(
        FixedUpdate,
        (
            between(Section::BeforeMoves, MoveSystems::Extend, MoveSystems::Step),
            between(Section::Moves, MoveSystems::Step, MoveSystems::React),
        )
            .chain(),
    )
    .add_systems(
        FixedPostUpdate,
        (
            between(Section::RecordFrames, RewindSystems::UpdateTable, WeaponSystems::Validate),
            between(Section::ValidateShots, WeaponSystems::Validate, WeaponSystems::AdvanceProjectiles),
        )
            .chain(),
    )
    .add_systems(
        PostUpdate,
        (
            between(Section::SendReplication, ReplicationSystems::Send, MessageSystems::Send),
            between(Section::SendMessages, MessageSystems::Send, TransportSystems::Send),
            end(Section::SendLinks).after(LinkSystems::Send),
        )
            .chain(),
    );
}

/// Adds the timestamps around schedules. A system in the schedules themselves could run anywhere in them.
fn add_cuts(app: &mut App) {
    add_cut(app, Cut::BeginFrame, begin_frame);
    add_cut(app, Cut::BeginPreUpdate, begin(Section::ReceiveLinks));
    add_cut(app, Cut::EndPreUpdate, end(Section::EndPreUpdate));
    add_cut(app, Cut::BeginUpdate, begin(Section::EndUpdate));
    add_cut(app, Cut::EndUpdate, end(Section::EndUpdate));
    add_cut(app, Cut::EndPostUpdate, end(Section::EndPostUpdate));
    add_cut(app, Cut::EndFrame, end_frame);
    let mut order = app.world_mut().resource_mut::<MainScheduleOrder>();
    order.insert_before(First, Cut::BeginFrame);
    order.insert_before(PreUpdate, Cut::BeginPreUpdate);
    order.insert_after(PreUpdate, Cut::EndPreUpdate);
    order.insert_before(Update, Cut::BeginUpdate);
    order.insert_after(Update, Cut::EndUpdate);
    order.insert_after(PostUpdate, Cut::EndPostUpdate);
    order.insert_after(Last, Cut::EndFrame);
    add_cut(app, Cut::BeginTick, begin_tick);
    add_cut(app, Cut::EndTick, end_tick);
    let mut order = app.world_mut().resource_mut::<FixedMainScheduleOrder>();
    order.insert_before(FixedFirst, Cut::BeginTick);
    order.insert_after(FixedLast, Cut::EndTick);
}

fn add_cut<M>(app: &mut App, cut: Cut, timestamp: impl IntoScheduleConfigs<ScheduleSystem, M>) {
    let mut schedule = Schedule::new(cut);
    schedule.set_executor(SingleThreadedExecutor::new());
    schedule.add_systems(timestamp);
    app.add_schedule(schedule);
}

/// Returns a system that ends a section.
fn end(section: Section) -> impl Fn(ResMut<SetTimes>, Option<Res<Heart>>) {
    move |mut times, heart| {
        times.end(section);
        tell_watchdog(heart, section.following());
    }
}

/// Returns a system that begins the first section of a schedule.
fn begin(section: Section) -> impl Fn(ResMut<SetTimes>, Option<Res<Heart>>) {
    move |mut times, heart| {
        times.last = Instant::now();
        tell_watchdog(heart, Some(section));
    }
}

/// Tells the watchdog which section is running from now on.
fn tell_watchdog(heart: Option<Res<Heart>>, running: Option<Section>) {
    if let Some(heart) = heart {
        heart.begin_section(running.map(|section| section as usize));
    }
}

/// Returns a system that ends a section between two system sets.
fn between(
    section: Section,
    after: impl SystemSet,
    before: impl SystemSet,
) -> ScheduleConfigs<ScheduleSystem> {
    end(section).after(after).before(before)
}

fn begin_frame(mut times: ResMut<SetTimes>) {
    times.frame_began = Instant::now();
}

fn end_frame(mut times: ResMut<SetTimes>, heart: Option<Res<Heart>>) {
    let took: Duration = times.end(Section::EndFrame) - times.frame_began;
    times.frame.observe(took);
    tell_watchdog(heart, None);
}

fn begin_tick(mut times: ResMut<SetTimes>, heart: Option<Res<Heart>>) {
    times.last = Instant::now();
    times.tick_began = times.last;
    tell_watchdog(heart, Some(Section::BeforeMoves));
}

fn end_tick(mut times: ResMut<SetTimes>, stall: Res<Stall>, heart: Option<Res<Heart>>) {
    let took: Duration = times.end(Section::EndTick) - times.tick_began;
    times.tick.observe(took);
    times.skipped_ticks += u64::from(stall.skipped);
    tell_watchdog(heart, None);
}

#[cfg(test)]
mod tests {
    use bevy::time::TimeUpdateStrategy;

    use super::*;

    /// Counts of the sections of these names.
    fn counts<const N: usize>(app: &App, names: [&str; N]) -> [u64; N] {
        let times = app.world().resource::<SetTimes>();
        names.map(|name| {
            times.sections().find(|(section, _)| *section == name).map_or(0, |(_, times)| times.count())
        })
    }

    #[test]
    fn each_frame_and_each_tick_is_measured_once_by_section() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, plugin));
        let tick = app.world().resource::<Time<Fixed>>().timestep();
        // The first frame has no time.
        app.insert_resource(TimeUpdateStrategy::ManualDuration(tick * 2));
        for _ in 0..6 {
            app.update();
        }
        let times = app.world().resource::<SetTimes>();
        assert_eq!(times.frame.count(), 6);
        let ticks = times.tick.count();
        assert!((9..=12).contains(&ticks), "{ticks} ticks");
        assert_eq!(counts(&app, ["LinkSystems::Receive", "PreUpdate", "LinkSystems::Send", "Last"]), [6; 4]);
        let of_ticks = ["MoveSystems::Extend", "MoveSystems::Step", "WeaponSystems::Validate", "FixedLast"];
        assert_eq!(counts(&app, of_ticks), [ticks; 4]);
    }

    #[test]
    fn section_begins_with_its_schedule_or_at_the_end_of_the_one_before() {
        let names = |section: Section| section_names(section as usize).expect("a section");
        for first in [Section::ReceiveLinks, Section::BeforeMoves, Section::EndUpdate] {
            assert_eq!(names(first), (first.name(), None));
        }
        for (section, before) in [
            (Section::CheckDatagrams, "LinkSystems::Receive"),
            (Section::EndPreUpdate, "TransportSystems::Receive"),
            (Section::EndTick, "WeaponSystems::Validate"),
            (Section::SendReplication, "Update"),
            (Section::EndFrame, "PostUpdate"),
        ] {
            assert_eq!(names(section), (section.name(), Some(before)));
        }
        assert_eq!(section_names(Section::ALL.len()), None);
    }

    #[test]
    fn time_counts_for_the_section_in_which_it_passes() {
        const NAP: Duration = Duration::from_millis(30);
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, plugin)).add_systems(
            PreUpdate,
            (|| std::thread::sleep(NAP)).in_set(GuardSystems::Packets).after(ConnectionSystems::Receive),
        );
        app.configure_sets(PreUpdate, GuardSystems::Packets.after(ConnectionSystems::Receive));
        app.update();
        let times = app.world().resource::<SetTimes>();
        let slow: Vec<_> = times
            .sections()
            .filter(|(_, times)| times.sum() >= NAP.as_secs_f64())
            .map(|(section, _)| section)
            .collect();
        assert!(slow.contains(&"GuardSystems::Packets"), "{slow:?}");
        assert!(times.frame.sum() >= NAP.as_secs_f64());
    }
}
