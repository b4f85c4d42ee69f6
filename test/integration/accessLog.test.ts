import { expect, onTestFinished, test } from 'vitest'
import { createJsonLog } from '#platform/logging/log.ts'
import { until } from '../support/assertions/eventually.ts'
import { runningService } from '../support/processes/runningService.ts'

test('logs route, status and account without values chosen by the caller', async () => {
  const lines: string[] = []
  const log = createJsonLog({ write: (line) => lines.push(line), now: Date.now, level: 'debug' })
  const service = await runningService({ host: 'none', log })
  onTestFinished(() => service.close())
  const { json: account } = await service.send('/v1/auth/me')
  await service.send('/v1/sandboxes?secret=1', { headers: { authorization: `Bearer ${service.key}` } })
  const line = await until('the access log', () => lines.find((it) => it.includes('"route":"/v1/sandboxes"')))
  expect(JSON.parse(line)).toMatchObject({ message: 'answered', method: 'GET', status: 200, account: account.id })
  await service.send('/v1/sandboxes/hunter2/exec', { body: { command: 'true' } })
  await service.send('/hunter2')
  await until('the route', () => lines.find((it) => it.includes('"route":"/v1/sandboxes/:id/exec"')))
  expect(lines.filter((value) => /secret=1|hunter2/.test(value) || value.includes(service.key))).toEqual([])
})
