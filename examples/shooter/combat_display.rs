//! Display of a fight around the crosshair: kills, and the direction of damage.

use core::f32::consts::TAU;
use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag::{
    net::MatchRestarted,
    prelude::*,
    weapons::{Tracer, TracerPath},
};
use unlag_examples::{
    kill_feed::Kill,
    screen::{
        LiveText, ShownIf,
        ui::{TEXT, centre, label, placed},
    },
};

use crate::{split_view, view::PlayerCamera};

/// Seconds for which a kill is shown, and the number of kills at a time.
const KILL_SECONDS: f32 = 5.0;
const KILLS: usize = 5;
/// Seconds for which the direction of damage is shown.
const DAMAGE_SECONDS: f32 = 1.2;
/// Seconds before the damage in which its shot may have been seen.
const SEEN_SECONDS: f32 = 0.6;
/// Distance in metres from the own body at which a shot that hit it ended.
const NEAR: f32 = 1.5;
/// Distance of the mark from the crosshair, and its size, in pixels.
const RING: f32 = 130.0;
const MARK: Vec2 = Vec2::new(70.0, 7.0);

/// Shows kills and the direction of damage.
pub fn plugin(app: &mut App) {
    app.init_resource::<KillFeed>()
        .init_resource::<IncomingDamage>()
        .add_observer(|_: On<MatchRestarted>, mut feed: ResMut<KillFeed>| feed.0.clear())
        .add_systems(Startup, spawn)
        .add_systems(Update, (collect_kills, (watch_tracers, notice_damage, show_direction).chain()));
}

/// The last kills, with the time of each.
#[derive(Resource, Default)]
struct KillFeed(VecDeque<(f32, Kill)>);

/// Shots that ended near the own body, and the damage.
#[derive(Resource, Default)]
struct IncomingDamage {
    /// When, and from where.
    shots: VecDeque<(f32, Vec3)>,
    health: f32,
    /// Direction of the last damage, and the end of its display.
    shown: Option<(Vec3, f32)>,
}

/// Mark on the side from which damage came.
#[derive(Component)]
struct DirectionMark;

fn spawn(mut commands: Commands) {
    let place = Node { left: px(330), top: px(14), ..placed() };
    let kills = LiveText::new(&mut commands, kills);
    let shown = ShownIf::new(&mut commands, split_view::is_hidden);
    commands.spawn((
        Pickable::IGNORE,
        shown,
        place,
        children![(kills, label("", 13.0, TEXT), TextShadow::default(), Pickable::IGNORE)],
    ));
    let node = Node { left: px(-MARK.x / 2.0), top: px(-MARK.y / 2.0), ..placed() };
    let node = Node { width: px(MARK.x), height: px(MARK.y), ..node };
    let border_radius = BorderRadius::all(px(MARK.y / 2.0));
    let node = Node { border_radius, ..node };
    let mark = (DirectionMark, Pickable::IGNORE, node, UiTransform::default(), BackgroundColor(Color::NONE));
    commands.spawn((centre(), children![mark]));
}

fn collect_kills(time: Res<Time>, mut kills: MessageReader<Kill>, mut feed: ResMut<KillFeed>) {
    for kill in kills.read() {
        if feed.0.len() == KILLS {
            feed.0.pop_front();
        }
        feed.0.push_back((time.elapsed_secs(), *kill));
    }
    while feed.0.front().is_some_and(|(at, _)| time.elapsed_secs() - at > KILL_SECONDS) {
        feed.0.pop_front();
    }
}

fn kills(feed: Res<KillFeed>, arsenal: Res<Arsenal>, own: Query<&NetId, With<LocalControl>>) -> String {
    let name = |pawn: NetId| match own.iter().any(|own| *own == pawn) {
        true => "You".to_owned(),
        false => format!("#{}", pawn.0),
    };
    let lines = feed.0.iter().map(|(_, kill)| {
        let weapon = kill.weapon.and_then(|weapon| arsenal.get(weapon));
        let weapon = weapon.map_or("world", |weapon| &weapon.name);
        match kill.killer.filter(|killer| *killer != kill.victim) {
            Some(killer) => format!("{}  [{weapon}]  {}", name(killer), name(kill.victim)),
            None => format!("[{weapon}]  {}", name(kill.victim)),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Remembers from where shots came that ended near the own body.
fn watch_tracers(
    time: Res<Time>,
    mut tracers: MessageReader<Tracer>,
    pawns: Query<(&NetId, &DrawnPose)>,
    own: Query<&DrawnPose, With<LocalControl>>,
    mut damage: ResMut<IncomingDamage>,
) {
    let Ok(own) = own.single() else { return };
    let chest = own.pose.position + own.pose.up();
    for tracer in tracers.read() {
        let Some((_, shooter)) = pawns.iter().find(|(id, _)| **id == tracer.shooter) else { continue };
        let from = shooter.pose.position + shooter.pose.up();
        let is_near = match tracer.trail {
            TracerPath::To(to) => to.distance(chest) < NEAR,
            TracerPath::Spread { .. } => true,
        };
        if is_near && from != chest {
            damage.shots.push_back((time.elapsed_secs(), from));
        }
    }
    while damage.shots.front().is_some_and(|(at, _)| time.elapsed_secs() - at > SEEN_SECONDS) {
        damage.shots.pop_front();
    }
}

fn notice_damage(
    time: Res<Time>,
    own: Query<&Health, With<LocalControl>>,
    mut damage: ResMut<IncomingDamage>,
) {
    let Ok(health) = own.single() else { return };
    if health.current < damage.health
        && let Some((_, from)) = damage.shots.back().copied()
    {
        damage.shown = Some((from, time.elapsed_secs() + DAMAGE_SECONDS));
    }
    damage.health = health.current;
}

/// Places the mark on a ring around the crosshair.
fn show_direction(
    time: Res<Time>,
    cameras: Query<&Transform, With<PlayerCamera>>,
    damage: Res<IncomingDamage>,
    mut marks: Query<(&mut UiTransform, &mut BackgroundColor), With<DirectionMark>>,
) {
    let (Ok(camera), Ok((mut transform, mut colour))) = (cameras.single(), marks.single_mut()) else {
        return;
    };
    let shown = damage.shown.filter(|(_, until)| *until > time.elapsed_secs());
    let Some((from, until)) = shown else {
        colour.set_if_neq(BackgroundColor(Color::NONE));
        return;
    };
    let way = camera.rotation.inverse() * (from - camera.translation);
    // Clockwise from straight ahead.
    let angle = way.x.atan2(-way.z).rem_euclid(TAU);
    transform.translation = Val2::px(angle.sin() * RING, -angle.cos() * RING);
    transform.rotation = Rot2::radians(angle);
    let left = ((until - time.elapsed_secs()) / DAMAGE_SECONDS).clamp(0.0, 1.0);
    *colour = BackgroundColor(Color::srgba(1.0, 0.15, 0.1, left * 0.85));
}
