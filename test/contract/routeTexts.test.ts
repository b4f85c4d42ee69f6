import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Route } from '#shared/contract/route.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'

const folder = join(projectFolder, 'src/shared/contract')
const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
const modules: Record<string, unknown>[] = await Promise.all(files.map((name) => import(join(folder, name))))
const isRoute = (value: unknown): value is Route => typeof value === 'object' && value !== null && 'operation' in value
const routes = [...new Set(modules.flatMap((module) => Object.values(module)).filter(isRoute))]

test('every operation has a description that adds to its summary', () => {
  expect(routes.length).toBeGreaterThan(200)
  const isMissing = ({ summary, description }: Route) => description === undefined || description === summary
  expect(routes.filter(isMissing).map(({ operation }) => operation)).toEqual([])
})

test('every request body has an example that its schema accepts', () => {
  const withBody = routes.filter(({ hasBody }) => hasBody)
  expect(withBody.length).toBeGreaterThan(80)
  const faults = withBody.flatMap(({ operation, body, example }) => {
    if (example === undefined) return [`${operation} has none`]
    const { error } = body.safeParse(example)
    return error === undefined ? [] : [`${operation}: ${error.message}`]
  })
  expect(faults).toEqual([])
})
