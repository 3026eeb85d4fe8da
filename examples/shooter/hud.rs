//! Head-up display: crosshair, health, weapon, scores and notices.

use core::fmt::Write;

use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    weapons::{ExplanationViewer, RespawnRules, ShotExplanation},
};
use unlag_examples::{
    connection_monitor::ConnectionMonitor,
    death_report::{LastDeath, TICK_SECONDS},
    hero::HeroState,
    screen::{
        LiveText, ShownIf,
        ui::{DIM, TEXT, banner, centre, label, placed, shaded},
    },
};

use crate::split_view;

/// Width of the health bar in pixels; wide enough for peripheral vision.
const HEALTH_WIDTH: f32 = 220.0;

/// Shows the crosshair, health, weapon, scores, deaths and notices.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn).add_systems(Update, (show_weapon, show_health));
}

#[derive(Component)]
struct HealthBar;

#[derive(Component)]
struct WeaponText;

fn spawn(mut commands: Commands) {
    let stroke = |left: f32, top: f32, width: f32, height: f32| {
        let node = Node { left: px(left), top: px(top), width: px(width), height: px(height), ..placed() };
        (Pickable::IGNORE, node, BackgroundColor(Color::srgba(0.75, 1.0, 0.75, 0.9)))
    };
    commands.spawn((
        centre(),
        children![
            stroke(-1.0, -1.0, 2.0, 2.0),
            stroke(-12.0, -1.0, 7.0, 2.0),
            stroke(5.0, -1.0, 7.0, 2.0),
            stroke(-1.0, -12.0, 2.0, 7.0),
            stroke(-1.0, 5.0, 2.0, 7.0),
        ],
    ));
    let died = ShownIf::new(&mut commands, is_dead);
    let death = LiveText::new(&mut commands, respawning);
    let death = (death, label("", 26.0, Color::srgb(1.0, 0.85, 0.80)));
    let why = (LiveText::new(&mut commands, why), label("", 15.0, TEXT), Pickable::IGNORE);
    let ages = (LiveText::new(&mut commands, ages), label("", 13.0, DIM), Pickable::IGNORE);
    let place = Node { row_gap: px(4), align_items: AlignItems::Center, ..default() };
    let panel = (
        Pickable::IGNORE,
        shaded(place),
        children![(death, TextShadow::default(), Pickable::IGNORE), why, ages],
    );
    commands.spawn((banner(34.0), died, children![panel]));
    let notice = (LiveText::new(&mut commands, notice), label("", 20.0, Color::srgb(1.0, 0.9, 0.55)));
    commands.spawn((banner(20.0), children![(notice, TextShadow::default(), Pickable::IGNORE)]));
    // Placed beside the panel, so that they do not overlap in a small window.
    let place = Node { left: px(324), bottom: px(12), row_gap: px(5), ..placed() };
    let health = (LiveText::new(&mut commands, health), label("Health", 14.0, TEXT), Pickable::IGNORE);
    commands.spawn((
        Pickable::IGNORE,
        shaded(place),
        children![
            (WeaponText, label("", 16.0, TEXT), Pickable::IGNORE),
            health,
            (
                Pickable::IGNORE,
                Node { width: px(HEALTH_WIDTH), height: px(10), ..default() },
                BackgroundColor(Color::srgba(1.0, 1.0, 1.0, 0.15)),
                children![(
                    HealthBar,
                    Pickable::IGNORE,
                    Node { width: percent(0), height: percent(100), ..default() },
                    BackgroundColor(Color::NONE),
                )],
            ),
        ],
    ));
    let place = Node { right: px(324), top: px(12), ..placed() };
    let scores = (LiveText::new(&mut commands, scores), label("", 14.0, TEXT), Pickable::IGNORE);
    let beside = ShownIf::new(&mut commands, split_view::is_hidden);
    commands.spawn((Pickable::IGNORE, beside, shaded(place), children![scores]));
}

fn health(own: Query<(&Health, &PlayerScore), With<LocalControl>>) -> String {
    let Ok((health, PlayerScore { kills, deaths })) = own.single() else {
        return "Waiting for the server".to_owned();
    };
    format!("Health {:.0}   Kills {kills}   Deaths {deaths}", health.current.max(0.0))
}

fn show_health(
    own: Query<&Health, With<LocalControl>>,
    mut bar: Single<(&mut Node, &mut BackgroundColor), With<HealthBar>>,
) {
    let part = own.single().map_or(0.0, Health::fraction);
    let (node, colour) = &mut *bar;
    let width = percent(part * 100.0);
    if node.width != width {
        node.width = width;
    }
    colour.set_if_neq(BackgroundColor(Color::hsl(120.0 * part, 0.75, 0.48)));
}

/// Shows the held weapon and its ammunition as predicted, so that they follow the trigger without delay.
fn show_weapon(
    own: Query<&HeroState, With<LocalControl>>,
    arsenal: Res<Arsenal>,
    mut text: Single<&mut Text, With<WeaponText>>,
) {
    let weapons = own.single().ok().map(|state| state.extension);
    let held = weapons.and_then(|weapons| Some((weapons, weapons.weapon(&arsenal)?.1)));
    let line = held.map_or_else(String::new, |(weapons, weapon)| {
        let hand = weapons.held_slot();
        let rounds = match weapon.ammo.magazine {
            0 => String::new(),
            _ if weapons.is_reloading() => format!("loading   {} left", hand.reserve),
            full => format!("{} of {full}   {} left", hand.magazine, hand.reserve),
        };
        format!("{}  {}\n{rounds}", weapons.slot + 1, weapon.name)
    });
    text.set_if_neq(Text(line));
}

fn notice(watch: Option<Res<ConnectionMonitor>>) -> String {
    watch.and_then(|watch| watch.notice.clone()).unwrap_or_default()
}

/// Returns whether the player is dead. A pawn that was never alive is joining, not dead.
fn is_dead(own: Query<(&DrawnPose, &PlayerScore), With<LocalControl>>) -> bool {
    own.iter().any(|(drawn, score)| !drawn.pose.alive && score.deaths > 0)
}

/// Returns the time until the respawn.
fn respawning(
    time: Res<Time>,
    own: Query<&DrawnPose, With<LocalControl>>,
    mut died: Local<Option<f32>>,
) -> String {
    let now = time.elapsed_secs();
    if own.iter().any(|drawn| drawn.pose.alive) {
        *died = None;
    } else {
        died.get_or_insert(now);
    }
    let left = RespawnRules::default().respawn.as_secs_f32() - (now - died.unwrap_or(now));
    format!("You were hit - respawn in {:.1} s", left.max(0.0))
}

/// Returns why the player died, as the server tells it.
fn why(death: Res<LastDeath>) -> String {
    let name = |pawn: NetId| format!("#{}", pawn.0);
    let sentence = |found: ShotExplanation| found.sentence(ExplanationViewer::Target, TICK_SECONDS, name);
    death.0.map_or_else(String::new, sentence)
}

/// Returns what the age of the killer's picture consisted of.
fn ages(death: Res<LastDeath>) -> String {
    let Some(found) = death.0 else { return String::new() };
    match (found.age_ms(TICK_SECONDS), found.round_trip_ms, found.playout_ms(TICK_SECONDS)) {
        (Some(age), Some(trip), Some(playout)) => {
            format!(
                "{age:.0} ms = round trip {trip} ms, playout and wait for the move {playout:.0} ms, rest: queue"
            )
        }
        _ => String::new(),
    }
}

fn scores(players: Query<(&NetId, &PlayerScore, Has<LocalControl>)>) -> String {
    let mut all: Vec<_> = players.iter().collect();
    all.sort_by_key(|(id, score, _)| (core::cmp::Reverse(score.kills), score.deaths, id.0));
    let mut board = String::from("Player   Kills  Deaths");
    for (id, score, own) in all {
        let name = if own { "You".to_owned() } else { format!("#{}", id.0) };
        let _ = write!(board, "\n{name:<8} {:>5} {:>7}", score.kills, score.deaths);
    }
    board
}
