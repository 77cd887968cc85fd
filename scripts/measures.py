"""The measures of `kinema compare` written down once more with NumPy, on signals made by formula.

NumpyAgreementTest holds Kinema to the numbers that this prints: python3 scripts/measures.py
"""
import numpy as np
n = 12345; i = np.arange(n)
def f32(x): return x.astype(np.float32).astype(np.float64)
cl, cr = f32(0.3*np.sin(0.05*i + 2e-6*i*i)), f32(0.2*np.sin(0.31*i)*np.exp(-i/5000))
rl, rr = f32(0.28*np.sin(0.05*i + 2e-6*i*i) + 0.05*np.sin(1.1*i)), f32(0.2*np.sin(0.3101*i + 0.3)*np.exp(-i/5000))
def stft(x):
    w = 0.5 - 0.5*np.cos(2*np.pi*np.arange(2048)/2048)
    frames = 1 + max(0, -(-(len(x) - 2048)//512))
    p = np.pad(x, (0, 2048 + 512*frames - len(x)))
    return np.abs(np.fft.rfft(np.stack([p[512*k:512*k + 2048]*w for k in range(frames)])))
a = np.concatenate([stft(cl).ravel(), stft(cr).ravel()]); b = np.concatenate([stft(rl).ravel(), stft(rr).ravel()])
print("cosine", repr(a@b/np.sqrt((a@a)*(b@b))), "frames", len(stft(cl)))
rms = lambda *x: np.sqrt(np.mean(np.concatenate(x)**2))
print("rms", repr(rms(cl)/rms(rl)), repr(rms(cr)/rms(rr)), repr(rms(cl, cr)/rms(rl, rr)))
# SSIM of one formula pair, direct from the paper, one 24x20 picture of three channels
y, x, c = np.meshgrid(np.arange(20), np.arange(24), np.arange(3), indexing="ij")
A = np.clip(np.rint(128 + 90*np.sin(0.7*x + 0.9*c)*np.cos(0.4*y)), 0, 255); B = np.clip(np.rint(128 + 80*np.sin(0.7*x + 0.9*c + 0.3)*np.cos(0.4*y) + 9*c), 0, 255)
g = np.exp(-(np.arange(11) - 5)**2/(2*1.5**2)); g /= g.sum(); W = np.outer(g, g)
S = []
for ch in range(3):
    va = np.lib.stride_tricks.sliding_window_view(A[..., ch], (11, 11)); vb = np.lib.stride_tricks.sliding_window_view(B[..., ch], (11, 11))
    m = lambda v: (v*W).sum((-1, -2))
    ma, mb = m(va), m(vb); saa, sbb, sab = m(va*va) - ma**2, m(vb*vb) - mb**2, m(va*vb) - ma*mb
    C1, C2 = (0.01*255)**2, (0.03*255)**2
    S.append(((2*ma*mb + C1)*(2*sab + C2)/((ma**2 + mb**2 + C1)*(saa + sbb + C2))).mean())
print("ssim", repr(np.mean(S)), "psnr", repr(10*np.log10(255**2/np.mean((A - B)**2))))
print("l2", repr(np.linalg.norm(A - B)/np.linalg.norm(B)))
