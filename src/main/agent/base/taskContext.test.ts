import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTaskContext } from './taskContext.ts'

test('applies to nested asynchronous work but not to concurrent work', async () => {
  const tasks = createTaskContext()
  const deep = async () => {
    await setImmediate()
    return tasks.current()
  }
  const inTask = tasks.run({ id: 'chat:msg_1', links: { message: 'msg_1' } }, deep)
  const beside = deep()
  expect(await inTask).toEqual({ id: 'chat:msg_1', links: { message: 'msg_1' } })
  expect(await beside).toBeUndefined()
})

test('a chat message sent by an action starts a separate task', () => {
  const tasks = createTaskContext()
  const task = tasks.run({ id: 'action:1', links: {} }, () =>
    tasks.run({ id: 'chat:msg_1', links: { message: 'msg_1' } }, () => tasks.current()),
  )
  expect(task?.id).toBe('chat:msg_1')
})

test('a tool call within a chat turn stays part of that turn', () => {
  const tasks = createTaskContext()
  const task = tasks.run({ id: 'chat:msg_1', links: { message: 'msg_1' } }, () =>
    tasks.run({ id: 'call:call_1', links: { tool_call: 'call_1' } }, () => tasks.current()),
  )
  expect(task).toEqual({ id: 'chat:msg_1', links: { message: 'msg_1', tool_call: 'call_1' } })
  const chatTask = { id: 'chat:msg_1', links: { message: 'msg_1' } } as const
  expect(tasks.run({ id: 'action:1', links: {} }, () => tasks.resume(chatTask, tasks.current))).toEqual(chatTask)
})
