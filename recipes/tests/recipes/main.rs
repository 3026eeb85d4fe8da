//! Recipes: one file each, first the code of the game and then a test that plays it.

mod bad_link;
mod classes;
mod dash;
mod drone;
mod flag;
mod game_message;
mod health_bar;
mod jump_pad;
mod kart;
mod knock_back;
mod low_gravity;
mod moving_platform;
mod name_tag;
mod npc;
mod one_shot_effect;
mod other_rate;
mod own_ability;
mod respawn;
mod setup_mistake;
mod slow_motion;
mod spectator;
mod teams;
mod walk_and_hit;
mod weapons;
