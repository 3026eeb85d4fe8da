//! Head-up display: crosshair, health, weapon, scores and notices.

use core::fmt::Write;

use bevy::{prelude::*, time::common_conditions::on_real_timer};
use bevy_unlag::prelude::*;
use unlag_examples::{
    hero::HeroState,
    screen::ui::{SHADE, TEXT, TEXT_INTERVAL, label},
    udp_match::ConnectionMonitor,
};

/// Width of the health bar in pixels; wide enough for peripheral vision.
const HEALTH_WIDTH: f32 = 220.0;

/// Shows the crosshair, health, weapon, scores, deaths and notices.
pub struct HudPlugin;

impl Plugin for HudPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn).add_systems(Update, show_weapon).add_systems(
            Update,
            (show_health, show_death, show_scores, show_notice).run_if(on_real_timer(TEXT_INTERVAL)),
        );
    }
}

#[derive(Component)]
struct HealthBar;

#[derive(Component)]
struct HealthText;

#[derive(Component)]
struct WeaponText;

#[derive(Component)]
struct DeathText;

#[derive(Component)]
struct Scores;

/// Notice of the server or the connection.
#[derive(Component)]
struct NoticeText;

fn spawn(mut commands: Commands) {
    let stroke = |x: f32, y: f32, width: f32, height: f32| {
        (
            Pickable::IGNORE,
            Node {
                position_type: PositionType::Absolute,
                left: px(x),
                top: px(y),
                width: px(width),
                height: px(height),
                ..default()
            },
            BackgroundColor(Color::srgba(0.75, 1.0, 0.75, 0.9)),
        )
    };
    commands.spawn((
        Pickable::IGNORE,
        Node {
            position_type: PositionType::Absolute,
            left: percent(50),
            top: percent(50),
            width: px(0),
            height: px(0),
            ..default()
        },
        children![
            stroke(-1.0, -1.0, 2.0, 2.0),
            stroke(-12.0, -1.0, 7.0, 2.0),
            stroke(5.0, -1.0, 7.0, 2.0),
            stroke(-1.0, -12.0, 2.0, 7.0),
            stroke(-1.0, 5.0, 2.0, 7.0),
        ],
    ));
    commands.spawn((
        DeathText,
        Visibility::Hidden,
        Pickable::IGNORE,
        Node {
            position_type: PositionType::Absolute,
            top: percent(36),
            width: percent(100),
            justify_content: JustifyContent::Center,
            ..default()
        },
        children![(
            label("You were hit - respawning", 26.0, Color::srgb(1.0, 0.85, 0.80)),
            TextShadow::default(),
            Pickable::IGNORE
        )],
    ));
    commands.spawn((
        Pickable::IGNORE,
        Node {
            position_type: PositionType::Absolute,
            top: percent(20),
            width: percent(100),
            justify_content: JustifyContent::Center,
            ..default()
        },
        children![(
            NoticeText,
            label("", 20.0, Color::srgb(1.0, 0.9, 0.55)),
            TextShadow::default(),
            Pickable::IGNORE
        )],
    ));
    // Placed beside the panel, so that they do not overlap in a small window.
    commands.spawn((
        Pickable::IGNORE,
        Node {
            position_type: PositionType::Absolute,
            left: px(324),
            bottom: px(12),
            padding: UiRect::all(px(8)),
            border_radius: BorderRadius::all(px(6)),
            flex_direction: FlexDirection::Column,
            row_gap: px(5),
            ..default()
        },
        BackgroundColor(SHADE),
        children![
            (WeaponText, label("", 18.0, TEXT), Pickable::IGNORE),
            (HealthText, label("Health", 14.0, TEXT), Pickable::IGNORE),
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
    commands.spawn((
        Pickable::IGNORE,
        Node {
            position_type: PositionType::Absolute,
            right: px(324),
            top: px(12),
            padding: UiRect::all(px(8)),
            border_radius: BorderRadius::all(px(6)),
            ..default()
        },
        BackgroundColor(SHADE),
        children![(Scores, label("", 14.0, TEXT), Pickable::IGNORE)],
    ));
}

fn show_health(
    own: Query<(&Health, &PlayerScore), With<LocalControl>>,
    mut bars: Query<(&mut Node, &mut BackgroundColor), With<HealthBar>>,
    mut texts: Query<&mut Text, With<HealthText>>,
) {
    let vitals = own.single().ok();
    let part = vitals.map_or(0.0, |(health, _)| health.fraction());
    for (mut node, mut colour) in &mut bars {
        let width = percent(part * 100.0);
        if node.width != width {
            node.width = width;
        }
        colour.set_if_neq(BackgroundColor(Color::hsl(120.0 * part, 0.75, 0.48)));
    }
    let line = vitals.map_or_else(
        || "Waiting for the server".to_owned(),
        |(health, PlayerScore { kills, deaths })| {
            format!("Health {:.0}   Kills {kills}   Deaths {deaths}", health.current.max(0.0))
        },
    );
    for mut text in &mut texts {
        text.set_if_neq(Text(line.clone()));
    }
}

/// Shows the held weapon and its ammunition as predicted, so that they follow the trigger without delay.
fn show_weapon(
    own: Query<&HeroState, With<LocalControl>>,
    arsenal: Res<Arsenal>,
    mut texts: Query<&mut Text, With<WeaponText>>,
) {
    let arms = own.single().ok().map(|state| state.extension);
    let held = arms.and_then(|arms| Some((arms, arms.weapon(&arsenal)?.1)));
    let line = held.map_or_else(String::new, |(arms, weapon)| {
        let hand = arms.held_slot();
        let rounds = match weapon.ammo.magazine {
            0 => String::new(),
            _ if arms.is_reloading() => format!("   loading   {} left", hand.reserve),
            full => format!("   {} of {full}   {} left", hand.magazine, hand.reserve),
        };
        format!("{}  {}{rounds}", arms.slot + 1, weapon.name)
    });
    for mut text in &mut texts {
        text.set_if_neq(Text(line.clone()));
    }
}

fn show_notice(watch: Option<Res<ConnectionMonitor>>, mut texts: Query<&mut Text, With<NoticeText>>) {
    let notice = watch.and_then(|watch| watch.notice.clone()).unwrap_or_default();
    for mut text in &mut texts {
        text.set_if_neq(Text(notice.clone()));
    }
}

fn show_death(
    own: Query<(&DrawnPose, &PlayerScore), With<LocalControl>>,
    mut texts: Query<&mut Visibility, With<DeathText>>,
) {
    // A pawn that was never alive is joining, not dead.
    let dead = own.iter().any(|(drawn, score)| !drawn.pose.alive && score.deaths > 0);
    for mut visibility in &mut texts {
        visibility.set_if_neq(if dead { Visibility::Inherited } else { Visibility::Hidden });
    }
}

fn show_scores(
    players: Query<(&NetId, &PlayerScore, Has<LocalControl>)>,
    mut texts: Query<&mut Text, With<Scores>>,
) {
    let mut all: Vec<_> = players.iter().collect();
    all.sort_by_key(|(id, score, _)| (core::cmp::Reverse(score.kills), score.deaths, id.0));
    let mut board = String::from("Player   Kills  Deaths");
    for (id, score, own) in all {
        let name = if own { "You".to_owned() } else { format!("#{}", id.0) };
        let _ = write!(board, "\n{name:<8} {:>5} {:>7}", score.kills, score.deaths);
    }
    for mut text in &mut texts {
        text.set_if_neq(Text(board.clone()));
    }
}
