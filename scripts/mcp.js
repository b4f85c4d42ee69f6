#!/usr/bin/env node
/** The way in of `npm run mcp` and `steward-mcp`: the build where there is one, else the sources. */
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { resolve } from 'node:path'
import { requireNode } from './requireNode.js'

requireNode()
const root = resolve(import.meta.dirname, '..')
nodeModule.enableCompileCache(resolve(root, 'out', 'compiled'))
const built = resolve(root, 'out', 'main', 'mcp.js')
const { runMcp } = await import(existsSync(built) ? built : resolve(root, 'src', 'main', 'entries', 'mcp.ts'))
await runMcp(process.argv.slice(2))
