import { expect, onTestFinished, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { runningService, type TestServiceOptions } from '../support/processes/runningService.ts'

async function startWith(options: TestServiceOptions) {
  const service = await runningService(options)
  onTestFinished(() => service.close())
  return service
}

test('running sandboxes are reported as stopped after a shutdown, even before another host runs', async () => {
  const dataDir = temporaryFolder('ended')
  const first = await startWith({ dataDir })
  const { json, text } = await first.send('/v1/sandboxes', { body: {} })
  expect(json.status, text).toBe('running')
  await first.close()

  const second = await startWith({ dataDir, host: 'none' })
  const sandbox = `/v1/sandboxes/${json.id}`
  await until('it is told as stopped', async () => (await second.send(sandbox)).json.status === 'stopped')
  expect((await second.send(sandbox)).json).toMatchObject({
    status_reason: 'Stopped with Steward.',
    started_at: null,
  })
})
