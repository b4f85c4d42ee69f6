import { useState } from 'react'
import { joinClassNames } from '../../ui/classNames.ts'
import { resolveTypedPath } from './paths.ts'

type PathBarProps = { path: string; onGo: (path: string) => void }

/** Path of the tree's root. Each segment is a link; a click beside them edits the path. */
export function PathBar({ path, onGo }: PathBarProps) {
  const [typed, setTyped] = useState<string>()
  if (typed !== undefined) {
    return (
      <input
        // biome-ignore lint/a11y/noAutofocus: replaces the element that the user clicked
        autoFocus
        aria-label="Folder"
        spellCheck={false}
        value={typed}
        onFocus={({ target }) => target.select()}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={() => setTyped(undefined)}
        onKeyDown={({ key }) => {
          const to = resolveTypedPath(typed, path)
          if (key === 'Enter' && to !== undefined) onGo(to)
          if (key === 'Enter' || key === 'Escape') setTyped(undefined)
        }}
        className="h-6 min-w-0 flex-1 rounded-small border border-edge bg-control px-1.5 font-mono text-small"
      />
    )
  }
  const parts = path.split('/').filter((part) => part !== '')
  return (
    <nav aria-label="Folder" className="flex h-6 min-w-0 flex-1 items-center overflow-hidden font-mono text-small">
      {['', ...parts].map((part, index) => {
        const to = `/${parts.slice(0, index).join('/')}`
        const isLast = index === parts.length
        return (
          <button
            key={to}
            type="button"
            aria-label={isLast ? `${part === '' ? '/' : part}: go to path` : `Go to ${to}`}
            title={isLast ? 'Go to path' : to}
            onClick={() => (isLast ? setTyped(path) : onGo(to))}
            className={joinClassNames(
              'h-6 rounded-small px-0.5 hover:bg-hover',
              isLast ? 'min-w-8 flex-1 truncate text-left' : 'shrink-0 text-muted',
            )}
          >
            {index === 0 ? '/' : `${part}${isLast ? '' : '/'}`}
          </button>
        )
      })}
    </nav>
  )
}
