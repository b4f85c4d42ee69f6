import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { Route } from '#shared/contract/route.ts'
import { createSample, type Extent } from '#test/support/fixtures/contractSamples.ts'
import { projectFolder } from '#test/support/fixtures/testProject.ts'

/**
 * Stores the contract of a released version. Tests compare it with the current contract in both directions. Usage:
 * `node scripts/releasedContract.ts FOLDER COMMIT`, with the source of that version in FOLDER.
 */
const [folder = '', commit = ''] = process.argv.slice(2)
const load = async (path: string): Promise<Record<string, unknown>> => import(pathToFileURL(resolve(folder, path)).href)
const { routeTable } = (await load('src/shared/contract/routeTable.ts')) as { routeTable: readonly Route[] }
const { ServiceEvent } = (await load('src/shared/contract/events.ts')) as { ServiceEvent: z.ZodDiscriminatedUnion }
const { version } = (await load('src/main/platform/program/version.ts')) as { version: string }

const toComparableSchema = (schema: z.ZodType): unknown => {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'ref' })
  // Omits descriptions and patterns: two versions must agree only on fields, types and enum values.
  const isText = (key: string): boolean => ['description', 'pattern', 'format'].includes(key)
  const plain = (key: string, value: unknown) => (isText(key) && typeof value === 'string' ? undefined : value)
  return JSON.parse(JSON.stringify(json, plain))
}

/** Creates the smallest and the largest sample, or no sample if a cross-field rule rejects it. */
function createSamples(schema: z.ZodType): unknown[] {
  const extents: readonly Extent[] = ['least', 'most']
  const samples = extents
    .map((extent) => createSample(schema, extent))
    .filter((sample) => schema.safeParse(sample).success)
  return [...new Set(samples.map((sample) => JSON.stringify(sample)))].map((text) => JSON.parse(text))
}

const routes = routeTable.map(({ operation, method, path, raw, response, body, hasBody }) => ({
  ...{ operation, method, path },
  ...(!raw?.response && { response: toComparableSchema(response), answers: createSamples(response) }),
  ...(hasBody && { body: toComparableSchema(body), bodies: createSamples(body) }),
}))
const events = ServiceEvent.options.map((option) => ({
  type: [...((option as z.ZodObject).shape.type as z.ZodLiteral).values][0],
  schema: toComparableSchema(option as z.ZodType),
  samples: createSamples(option as z.ZodType),
}))
const lines = (rows: readonly object[]) => `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]`
writeFileSync(
  join(projectFolder, 'test/support/fixtures/releasedContract.json'),
  `{"version":${JSON.stringify(version)},"commit":${JSON.stringify(commit)},\n"routes":${lines(routes)},\n"events":${lines(events)}}\n`,
)
