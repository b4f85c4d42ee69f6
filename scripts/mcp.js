#!/usr/bin/env node
/** The way in of `npm run mcp` and `steward-mcp`: the build where there is one, else the sources. */
import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
enableCompileCache(resolve(root, 'out', 'compiled'))
const built = resolve(root, 'out', 'main', 'mcp.js')
const { runMcp } = await import(existsSync(built) ? built : resolve(root, 'src', 'main', 'entries', 'mcp.ts'))
await runMcp(process.argv.slice(2))
