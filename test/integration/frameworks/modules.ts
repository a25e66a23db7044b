export { default as express5 } from "express";
export { default as express4 } from "express4";
export { default as fastify5 } from "fastify";
export { default as fastify4 } from "fastify4";
export { Hono } from "hono";
