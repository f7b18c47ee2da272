//! x
#![allow(dead_code)]
mod check;
mod ctype;
mod layout;
mod lex;
mod parse;
mod source;
mod syntax;
mod token;
mod tree;
