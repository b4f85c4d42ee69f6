/**
 * The way in of `npm start`. In JavaScript, and so before anything else is loaded: what Node has compiled once, types
 * taken away, it then reads from beside the build.
 */
import * as nodeModule from 'node:module'
import { resolve } from 'node:path'
import { requireNode } from './requireNode.js'

requireNode()
nodeModule.enableCompileCache(resolve(import.meta.dirname, '..', 'out', 'compiled'))
await import('./start.ts')
