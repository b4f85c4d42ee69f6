import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { startSteward } from '../support/processes/steward.ts'

/** Delays the evaluation of the agent's module until the connection to the service has had time to open. */
const hooks = (ownerKeyFile: string) => `
  const delay = ${JSON.stringify(`
    const { existsSync } = await import('node:fs')
    const { setTimeout: pause } = await import('node:timers/promises')
    while (!existsSync(${JSON.stringify(ownerKeyFile)})) await pause(50)
    await pause(3_000)
  `)}
  export async function load(url, context, next) {
    const result = await next(url, context)
    return url.endsWith('/composeAgent.ts') ? { ...result, source: delay + result.source } : result
  }`

test('starts if the service is ready before the agent is loaded', async () => {
  const folder = temporaryFolder('early-service')
  const dataFolder = temporaryFolder('early-service-data')
  const hooksFile = join(folder, 'hooks.mjs')
  writeFileSync(hooksFile, hooks(join(dataFolder, 'owner.key')))
  const registerFile = join(folder, 'register.mjs')
  const hooksUrl = JSON.stringify(pathToFileURL(hooksFile).href)
  writeFileSync(registerFile, `import { register } from 'node:module'\nregister(${hooksUrl})\n`)
  const program = ['--import', pathToFileURL(registerFile).href, 'src/main/entries/headless.ts']
  const steward = await startSteward({ dataFolder, program })
  onTestFinished(steward.close)
  const response = await fetch(new URL('/v1/sandboxes', steward.serviceUrl), {
    headers: { authorization: `Bearer ${steward.ownerKey}` },
  })
  expect(response.status).toBe(200)
  expect(steward.output()).not.toContain('ReferenceError')
})
