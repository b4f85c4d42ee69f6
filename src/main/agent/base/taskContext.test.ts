import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTaskContext } from './taskContext.ts'

test('work within a task knows it, however deep, and what is beside it does not', async () => {
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

test('a question that is asked by an action begins a task of its own', () => {
  const tasks = createTaskContext()
  const task = tasks.run({ id: 'action:1', links: {} }, () =>
    tasks.run({ id: 'chat:msg_1', links: { message: 'msg_1' } }, () => tasks.current()),
  )
  expect(task?.id).toBe('chat:msg_1')
})

test('a call within a turn of a chat stays part of that turn', () => {
  const tasks = createTaskContext()
  const task = tasks.run({ id: 'chat:msg_1', links: { message: 'msg_1' } }, () =>
    tasks.run({ id: 'call:call_1', links: { tool_call: 'call_1' } }, () => tasks.current()),
  )
  expect(task).toEqual({ id: 'chat:msg_1', links: { message: 'msg_1', tool_call: 'call_1' } })
  const chatTask = { id: 'chat:msg_1', links: { message: 'msg_1' } } as const
  expect(tasks.run({ id: 'action:1', links: {} }, () => tasks.resume(chatTask, tasks.current))).toEqual(chatTask)
})
