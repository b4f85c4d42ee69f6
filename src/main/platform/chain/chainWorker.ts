import { parentPort } from 'node:worker_threads'
import { serveChain } from './chainServer.ts'

if (parentPort) serveChain(parentPort)
