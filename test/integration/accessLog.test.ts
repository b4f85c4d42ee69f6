import { expect, onTestFinished, test } from 'vitest'
import { jsonLog } from '#platform/log.ts'
import { until } from '../support/eventually.ts'
import { runningService } from '../support/runningService.ts'

test('the access log names request, status and account, and no credential', async () => {
  const lines: string[] = []
  const log = jsonLog({ write: (line) => lines.push(line), now: Date.now, level: 'debug' })
  const service = await runningService({ host: 'none', log })
  onTestFinished(() => service.close())
  const { json: account } = await service.send('/v1/auth/me')
  await service.send('/v1/sandboxes?secret=1', { headers: { authorization: `Bearer ${service.key}` } })
  const line = await until('the access log', () => lines.find((it) => it.includes('"path":"/v1/sandboxes"')))
  expect(JSON.parse(line)).toMatchObject({ message: 'answered', method: 'GET', status: 200, account: account.id })
  expect(lines.filter((it) => it.includes(service.key) || it.includes('secret=1'))).toEqual([])
})
