import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type { Route } from '#shared/contract/route.ts'
import { createSample, type Extent } from '#test/support/contractSamples.ts'
import { projectFolder } from '#test/support/plantedTree.ts'

/**
 * Stores the contract of a released version, with which the tests compare this one in both directions: `node
 * scripts/releasedContract.ts FOLDER COMMIT`, with that version's program in FOLDER.
 */
const [folder = '', commit = ''] = process.argv.slice(2)
const load = async (path: string): Promise<Record<string, unknown>> => import(pathToFileURL(resolve(folder, path)).href)
const { routeTable } = (await load('src/shared/contract/routeTable.ts')) as { routeTable: readonly Route[] }
const { ServiceEvent } = (await load('src/shared/contract/events.ts')) as { ServiceEvent: z.ZodDiscriminatedUnion }
const { version } = (await load('src/main/platform/version.ts')) as { version: string }

const toComparableSchema = (schema: z.ZodType): unknown => {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'ref' })
  // Texts and patterns are left out: two versions must agree on fields, types and words.
  const isText = (key: string): boolean => ['description', 'pattern', 'format'].includes(key)
  const plain = (key: string, value: unknown) => (isText(key) && typeof value === 'string' ? undefined : value)
  return JSON.parse(JSON.stringify(json, plain))
}

/** Creates the smallest and the largest sample; none if a rule over several fields refuses it. */
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
  join(projectFolder, 'test/support/releasedContract.json'),
  `{"version":${JSON.stringify(version)},"commit":${JSON.stringify(commit)},\n"routes":${lines(routes)},\n"events":${lines(events)}}\n`,
)
