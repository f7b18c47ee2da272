//! x
#![allow(dead_code)]
mod lex;
mod parse;
mod source;
mod syntax;
mod token;
