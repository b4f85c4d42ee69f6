import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { emptyImageForm, listSourceKinds, toImageErrors, toImageInput, validateImageInput } from './imageForm.ts'
import { omitImage, withImage } from './imageList.ts'

test('sends only the fields of the selected source kind', () => {
  const form = { ...emptyImageForm, name: ' tools ', packages: 'jq, curl  git', path: '/x.tar', reference: 'y' }
  expect(toImageInput(form)).toEqual({ name: 'tools', source: { kind: 'system', packages: ['jq', 'curl', 'git'] } })
  expect(toImageInput({ ...form, kind: 'archive' }).source).toEqual({ kind: 'archive', path: '/x.tar' })
  expect(toImageInput({ ...form, kind: 'registry' }).source).toEqual({ kind: 'registry', reference: 'y' })
})

test('reports validation errors of the service field by field', () => {
  const errors = (part: Partial<typeof emptyImageForm>) =>
    validateImageInput(toImageInput({ ...emptyImageForm, ...part }))
  expect(errors({ name: 'tools' })).toEqual({})
  expect(errors({ name: 'My Tools' }).name).toContain('Must begin with a lower-case letter')
  expect(errors({ name: 'a', packages: 'JQ;rm' })).toEqual({ packages: 'Must be names of packages.' })
  expect(errors({ name: 'a', kind: 'archive', path: 'x.tar' })).toEqual({
    path: 'Must be an absolute path of this computer.',
  })
  expect(errors({ name: 'a', kind: 'registry' }).reference).toContain('Must be an image reference')
})

test('shows a refusal at its field', () => {
  expect(toImageErrors(new AppError('image/exists', 'There is one.'), 'system')).toEqual({ name: 'There is one.' })
  const unread = new AppError('image/source', 'It cannot be read.')
  expect(toImageErrors(unread, 'archive')).toEqual({ path: 'It cannot be read.' })
  expect(toImageErrors(new AppError('file/no-space', 'Full.'), 'archive')).toBeUndefined()
})

test('lists the sources of available runtimes', () => {
  const report = (available: boolean, image_sources: string[]) => ({ available, image_sources }) as never
  expect([...listSourceKinds([report(true, ['system']), report(false, ['registry'])])]).toEqual(['system'])
})

test('sorts images by name after changes', () => {
  const image = (name: string, status = 'ready') => ({ name, status }) as never
  const list = withImage(withImage([image('b')], image('a')), image('b', 'failed'))
  expect(list).toEqual([image('a'), image('b', 'failed')])
  expect(omitImage(list, 'a')).toEqual([image('b', 'failed')])
})
