// Words in English and Chinese. Elements bear data-i18n; text made by scripts asks t().

const WORDS = {
  en: {
    skip: "Skip to the prompt", model: "Model", ready: "ready", away: "not answering", language: "Language", theme: "Colours", themeAuto: "Automatic", themeLight: "Light", themeDark: "Dark",
    tokenAsk: "This server asks for a token.", tokenUse: "Use it", compose: "New clip", tabText: "Text", tabFrames: "Frames", tabReferences: "References",
    firstFrame: "First frame", lastFrame: "Last frame", remove: "Remove", referencesHint: "The model sees them in this order and under these labels; name them so in the prompt.",
    referenceKind: "Add", kindImage: "picture", kindVideo: "video, silent", kindVideoSound: "video with its sound", kindAudio: "sound", chooseFile: "Choose a file",
    up: "Move {0} up", down: "Move {0} down", removeNamed: "Remove {0}", prompt: "Prompt", promptHint: "What to see and hear: subject, movement, light, camera, sounds.",
    promptMissing: "Write what to see and hear first.", shotHelper: "Shot helper", shotSubject: "Subject", shotAction: "Action", shotPlace: "Place and light", shotCamera: "Camera", shotSound: "Sounds", shotSpeech: "Speech",
    shotApply: "Write it into the prompt", cameraStatic: "static shot", cameraPush: "slow push-in", cameraPan: "pan from left to right", cameraOrbit: "orbit around the subject", cameraHandheld: "handheld",
    soundIs: "Sounds: {0}.", speechIs: "Speech: “{0}”.", presets: "Preset", presetModel: "The model's own", presetDraft: "Quick look",
    contractModel: "{0} steps, {1} frames, the model's own shifts.", contractDraft: "{0} steps, {1} frames on a small canvas: to see where a prompt leads, not a finished clip.",
    contractAdapter: "Adapter {0}: it sets steps and shifts itself; other values are refused.", presetAdapter: "{0}",
    shape: "Shape", shapeOwn: "the model's own", length: "Length", seconds: "{0} s ({1} frames)", steps: "Steps", seed: "Seed", outputs: "Clips", adapter: "Adapter", adapterNone: "none",
    plan: "Plan", planning: "Planning…", generate: "Generate", sending: "Sending…", planTitle: "What it will do", planCanvas: "Canvas", planLength: "Length", planRows: "Rows", planRowsValue: "{0} text, {1} video, {2} sound",
    planSteps: "Evaluations", planSees: "The model sees", planMemory: "Memory, at most", planTime: "Time", planDevice: "Runs on", timeMeasured: "{0} (measured on this machine: {1} to {2})", timeUnknown: "not known yet; it is measured as clips are made", timeLower: "at least {0} (probed)",
    frames: "{0} frames, {1} s", jobs: "Clips", noJobs: "Nothing yet. What you generate appears here, the newest first.", compareTitle: "Side by side", playBoth: "Play both", close: "Close",
    queued: "queued", in_progress: "running", completed: "done", failed: "failed", cancelled: "cancelled", cancelling: "stopping…", record: "Run record", download: "Download", cancel: "Cancel", remove2: "Delete", remix: "Use again", compare: "Compare", compareOther: "Choose another clip to compare with",
    stageQueued: "waiting for its turn", stage_starting_engine: "starting the engine", stage_fetching_inputs: "fetching files", stage_checking_prepared_weights: "checking prepared weights", stage_reusing_prepared_weights: "reusing prepared weights", stage_preparing_weights: "preparing weights", stage_loading: "loading weights", stage_text_encoding: "reading the prompt", stage_condition_encoding: "looking at pictures and sounds", stage_denoising: "denoising", stage_video_decoding: "decoding the picture", stage_audio_decoding: "decoding the sound", stage_saving: "writing the file",
    stepCount: "step {0} of {1}", resumedAt: "went on from step {0}", preview: "Where it is heading, from the latents alone", preparation: "Waited {0}", generation: "generation {0}", made: "Made {0}", clipNumber: "Clip {0}, seed {1}",
    announced: "{0}: {1}", offline: "The server does not answer. Is it running?", experimental: "{0} (experimental)", openJobs: "{0} s", minutes: "{0} min {1} s", confirmDelete: "Delete this clip and its files?", spritesheet: "Contact sheet",
  },
  zh: {
    skip: "跳到提示词", model: "模型", ready: "就绪", away: "无响应", language: "语言", theme: "配色", themeAuto: "自动", themeLight: "浅色", themeDark: "深色",
    tokenAsk: "此服务器需要令牌。", tokenUse: "使用", compose: "新建片段", tabText: "文本", tabFrames: "首尾帧", tabReferences: "参考",
    firstFrame: "首帧", lastFrame: "尾帧", remove: "移除", referencesHint: "模型按此顺序、以这些标签看到它们；请在提示词中使用同样的名称。",
    referenceKind: "添加", kindImage: "图片", kindVideo: "视频（无声）", kindVideoSound: "视频（带声音）", kindAudio: "声音", chooseFile: "选择文件",
    up: "上移 {0}", down: "下移 {0}", removeNamed: "移除 {0}", prompt: "提示词", promptHint: "写出画面与声音：主体、动作、光线、镜头、音效。",
    promptMissing: "请先写出想看到和听到的内容。", shotHelper: "镜头助手", shotSubject: "主体", shotAction: "动作", shotPlace: "地点与光线", shotCamera: "镜头", shotSound: "音效", shotSpeech: "对白",
    shotApply: "写入提示词", cameraStatic: "固定镜头", cameraPush: "缓慢推近", cameraPan: "从左向右摇镜", cameraOrbit: "环绕主体", cameraHandheld: "手持",
    soundIs: "声音：{0}。", speechIs: "对白：“{0}”。", presets: "预设", presetModel: "模型默认", presetDraft: "快速预览",
    contractModel: "{0} 步，{1} 帧，使用模型自身的偏移。", contractDraft: "{0} 步，{1} 帧，小画布：用于试看提示词的走向，并非成片。",
    contractAdapter: "适配器 {0}：步数与偏移由它决定，其他数值会被拒绝。", presetAdapter: "{0}",
    shape: "画幅", shapeOwn: "模型默认", length: "时长", seconds: "{0} 秒（{1} 帧）", steps: "步数", seed: "种子", outputs: "数量", adapter: "适配器", adapterNone: "无",
    plan: "预估", planning: "正在预估…", generate: "生成", sending: "正在发送…", planTitle: "将要执行", planCanvas: "画布", planLength: "时长", planRows: "序列行数", planRowsValue: "文本 {0}，视频 {1}，声音 {2}",
    planSteps: "模型求值", planSees: "模型看到", planMemory: "内存峰值", planTime: "用时", planDevice: "运行于", timeMeasured: "{0}（本机实测：{1} 至 {2}）", timeUnknown: "尚未知；生成片段时会测量", timeLower: "至少 {0}（探测）",
    frames: "{0} 帧，{1} 秒", jobs: "片段", noJobs: "还没有内容。生成的片段会显示在这里，最新的在前。", compareTitle: "并排比较", playBoth: "同时播放", close: "关闭",
    queued: "排队中", in_progress: "运行中", completed: "完成", failed: "失败", cancelled: "已取消", cancelling: "正在停止…", record: "运行记录", download: "下载", cancel: "取消", remove2: "删除", remix: "再次使用", compare: "比较", compareOther: "请选择另一个要比较的片段",
    stageQueued: "等待轮到", stage_starting_engine: "启动引擎", stage_fetching_inputs: "获取文件", stage_checking_prepared_weights: "检查已准备的权重", stage_reusing_prepared_weights: "复用已准备的权重", stage_preparing_weights: "准备权重", stage_loading: "加载权重", stage_text_encoding: "读取提示词", stage_condition_encoding: "读取图片与声音", stage_denoising: "去噪", stage_video_decoding: "解码画面", stage_audio_decoding: "解码声音", stage_saving: "写入文件",
    stepCount: "第 {0} / {1} 步", resumedAt: "从第 {0} 步继续", preview: "仅由潜变量估计的走向", preparation: "等待 {0}", generation: "生成 {0}", made: "完成于 {0}", clipNumber: "片段 {0}，种子 {1}",
    announced: "{0}：{1}", offline: "服务器无响应，是否正在运行？", experimental: "{0}（实验性）", openJobs: "{0} 秒", minutes: "{0} 分 {1} 秒", confirmDelete: "删除此片段及其文件？", spritesheet: "缩略图表",
  },
};

let language = localStorage.getItem("kinema-language") || (navigator.language.startsWith("zh") ? "zh" : "en");

export function t(key, ...values) {
  return (WORDS[language][key] ?? WORDS.en[key] ?? key).replace(/\{(\d)\}/g, (_, i) => values[i]);
}

export const known = (key) => key in WORDS.en;

export function choose(value) {
  language = value;
  localStorage.setItem("kinema-language", value);
}

export function translate(root = document) {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const element of root.querySelectorAll("[data-i18n]")) element.textContent = t(element.dataset.i18n);
}

export const current = () => language;

/** 7.3 s, 2 min 5 s. */
export function duration(seconds) {
  if (seconds < 60) return t("openJobs", seconds < 10 ? seconds.toFixed(1) : Math.round(seconds));
  return t("minutes", Math.floor(seconds / 60), Math.round(seconds % 60));
}

export const bytes = (n) => (n >= 2 ** 30 ? `${(n / 2 ** 30).toFixed(1)} GiB` : `${Math.round(n / 2 ** 20)} MiB`);
