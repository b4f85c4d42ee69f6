import '@xterm/xterm/css/xterm.css'
import { Pause, Play } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { type Cast, formatClockTime, shortenWaits } from './castPlayback.ts'
import { type CastScreen, createCastScreen } from './castScreen.ts'

const speeds = ['0.5', '1', '2', '4', '8'] as const
type Speed = (typeof speeds)[number]
/** Seek step of the arrow keys. */
const stepMs = 5_000

/** Plays a terminal recording at a selectable speed and position. */
export function Player({ cast: recorded, label }: { cast: Cast; label: string }) {
  const [skips, setSkips] = useState(true)
  const cast = useMemo(() => (skips ? shortenWaits(recorded) : recorded), [recorded, skips])
  return <Playing key={String(skips)} cast={cast} label={label} skips={skips} onSkips={setSkips} />
}

type PlayingProps = { cast: Cast; label: string; skips: boolean; onSkips: (skips: boolean) => void }

function Playing({ cast, label, skips, onSkips }: PlayingProps) {
  const host = useRef<HTMLDivElement>(null)
  const screen = useRef<CastScreen>(undefined)
  const { atMs, playing, speed, setSpeed, toggle, move } = usePlayback(cast.durationMs, (at) =>
    screen.current?.showAt(at),
  )
  useEffect(() => {
    if (!host.current) return
    const created = createCastScreen(host.current, cast)
    screen.current = created
    created.showAt(0)
    return () => {
      screen.current = undefined
      created.close()
    }
  }, [cast])
  return (
    <section aria-label={label} className="flex flex-col gap-2.5">
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        aria-label="Screen"
        className="overflow-x-auto rounded-card border border-line bg-[#101114] p-2.5"
      >
        <div ref={host} className="w-max font-mono" data-cast-screen />
      </section>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <IconButton label={playing ? 'Pause' : 'Play'} icon={playing ? Pause : Play} onClick={toggle} />
        <input
          type="range"
          aria-label="Time"
          aria-valuetext={formatClockTime(atMs)}
          min={0}
          max={Math.max(1, cast.durationMs)}
          step={Math.min(100, Math.max(1, cast.durationMs / 100))}
          value={atMs}
          onChange={(event) => move(Number(event.target.value))}
          onKeyDown={(event) => {
            const step = { ArrowLeft: -stepMs, ArrowRight: stepMs }[event.key]
            if (step === undefined) return
            event.preventDefault()
            move(atMs + step)
          }}
          className="h-4 min-w-40 flex-1 accent-accent"
        />
        <span className="text-small text-muted tabular-nums">
          {formatClockTime(atMs)} / {formatClockTime(cast.durationMs)}
        </span>
        <div className="w-20">
          <Select<Speed>
            label="Speed"
            labelHidden
            value={(speeds.find((it) => Number(it) === speed) ?? '1') as Speed}
            options={speeds.map((value) => ({ value, label: `${value}×` }))}
            onChange={(value) => setSpeed(Number(value))}
          />
        </div>
        <Checkbox label="Skip idle time" checked={skips} onChange={onSkips} />
      </div>
    </section>
  )
}

/** Playback clock with selectable speed and position. Stops at the end. */
function usePlayback(durationMs: number, onTime: (atMs: number) => void) {
  const [atMs, setAtMs] = useState(0)
  const [playing, setPlaying] = useState(false)
  const [speed, setSpeed] = useState(1)
  const at = useRef(0)
  const listener = useRef(onTime)
  useEffect(() => {
    listener.current = onTime
  })
  const move = (to: number) => {
    at.current = Math.min(Math.max(0, to), durationMs)
    setAtMs(at.current)
    listener.current(at.current)
  }
  useEffect(() => {
    if (!playing) return
    let before = performance.now()
    let frame = requestAnimationFrame(function next(now) {
      const to = Math.min(at.current + (now - before) * speed, durationMs)
      before = now
      at.current = to
      setAtMs(to)
      listener.current(to)
      if (to >= durationMs) setPlaying(false)
      else frame = requestAnimationFrame(next)
    })
    return () => cancelAnimationFrame(frame)
  }, [playing, speed, durationMs])
  const toggle = () => {
    if (!playing && at.current >= durationMs) move(0)
    setPlaying(!playing)
  }
  return { atMs, playing, speed, setSpeed, toggle, move }
}
