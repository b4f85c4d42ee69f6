import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Route } from '#shared/contract/route.ts'
import { projectFolder } from './plantedTree.ts'

/** Collects every route that a contract file defines, whether or not a route table lists it. */
export async function createContractRoutes(): Promise<Route[]> {
  const folder = join(projectFolder, 'src/shared/contract')
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const files = await Promise.all(names.map((name) => import(pathToFileURL(join(folder, name)).href)))
  return files.flatMap((file: object) => Object.values(file).filter(isRoute))
}

function isRoute(value: unknown): value is Route {
  return typeof value === 'object' && value !== null && 'operation' in value && 'path' in value && 'method' in value
}
